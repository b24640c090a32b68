"""Records, enumerations, tuples and dictionaries of them as JSON, and back: what the cache keeps of them.

A row for each value, in which later ones refer to earlier ones by `[number]`: what is equal is written
once. Reading makes nothing but the classes that the reader names.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from importlib import import_module
from types import ModuleType
from typing import Any

TUPLE, DICTIONARY = "tuple", "dictionary"


def classes_of(modules: Iterable[ModuleType]) -> dict[str, type[Any]]:
    """The records and enumerations that modules define, by the names that rows have for them."""
    return {
        _name(cls): cls
        for module in modules
        for cls in vars(module).values()
        if isinstance(cls, type)
        and cls.__module__ == module.__name__
        and (is_dataclass(cls) or issubclass(cls, Enum))
    }


class LateClasses(dict[str, type[Any]]):
    """The same of modules by their names, each of which is imported when the first of its classes is met."""

    def __init__(self, modules: Iterable[str]) -> None:
        super().__init__()
        self.modules = frozenset(modules)

    def __missing__(self, name: str) -> type[Any]:
        module = name.rpartition(".")[0]
        if module not in self.modules:
            raise KeyError(name)
        found = classes_of([import_module(module)])
        self.update(found)
        return found[name]


def to_json(value: object) -> str:
    """The text of a record, a tuple, a dictionary, an enumeration's member or what JSON has itself."""
    writer = _Writer()
    last = writer.written(value)
    names = list(writer.names)
    return json.dumps([names, writer.rows, last], separators=(",", ":"))


def from_json(text: str, classes: Mapping[str, type[Any]]) -> Any:
    """What was written. ValueError when the text is none of `to_json` on these classes."""
    try:
        names, rows, last = json.loads(text)
        called = [_BUILT_IN.get(name) or classes[name] for name in names]
        made: list[Any] = []
        for number, *given in rows:
            made.append(called[number](*[made[g[0]] if g.__class__ is list else g for g in given]))
        return made[last[0]] if last.__class__ is list else last
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError) as failure:
        raise ValueError(f"no such records: {failure}") from failure


def _name(cls: type[Any]) -> str:
    """With its module, as two may have a class of one name."""
    return f"{cls.__module__}.{cls.__qualname__}"


def _tuple(*items: Any) -> tuple[Any, ...]:
    return items


def _dictionary(*items: Any) -> dict[Any, Any]:
    return dict(items)


_BUILT_IN = {TUPLE: _tuple, DICTIONARY: _dictionary}


class _Writer:
    """`names` of classes and `rows` of values, each at the number by which it is referred to."""

    def __init__(self) -> None:
        self.names: dict[str, int] = {}
        self.rows: list[list[Any]] = []
        self._numbers: dict[str, int] = {}
        self._fields: dict[type[Any], tuple[str, ...]] = {}
        # By identity, and alive as long as the numbers are: most parts are met many times.
        self._seen: dict[int, tuple[object, Any]] = {}

    def written(self, value: Any) -> Any:
        """The value where JSON has it, else a reference to its row."""
        if value is None or value.__class__ in (bool, int, float, str):
            return value
        if (seen := self._seen.get(id(value))) is not None:
            return seen[1]
        given: tuple[Any, ...]
        if isinstance(value, Enum):
            name, given = _name(type(value)), (value.value,)
        elif isinstance(value, tuple):
            name, given = TUPLE, value
        elif isinstance(value, dict):
            name, given = DICTIONARY, tuple(value.items())
        else:
            name, given = _name(type(value)), self._values(value)
        row = [self.names.setdefault(name, len(self.names)), *map(self.written, given)]
        number = self._numbers.setdefault(json.dumps(row), len(self.rows))
        if number == len(self.rows):
            self.rows.append(row)
        self._seen[id(value)] = value, [number]
        return [number]

    def _values(self, value: Any) -> tuple[Any, ...]:
        cls = type(value)
        if cls not in self._fields:
            if not is_dataclass(value):
                raise TypeError(f"a {cls.__name__} is no record")
            self._fields[cls] = tuple(f.name for f in fields(value) if f.init)
        return tuple(getattr(value, name) for name in self._fields[cls])
