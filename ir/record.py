"""`record`, `interned` and `mutable`: classes of named fields, cheap to define and to construct.

As `dataclass(slots=True)`, of which some three hundred are defined at each start, in a tenth of the
time: methods are made when they are first called, as most are of few classes. Nothing assigns the
fields of a record, which is for mypy to say, and not tested when the program runs; so it takes a
quarter of the time of a frozen dataclass to construct one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

_X = TypeVar("_X")
Method = Callable[..., Any]


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def record(cls: type[_X]) -> type[_X]:
    """The class with slots for its fields, compared and hashed by them, and shown with them. What it
    defines itself stays."""
    return _with(cls, {"__init__": _constructor, "__eq__": _equality, "__hash__": _hash})


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def interned(cls: type[_X]) -> type[_X]:
    """The same with one object for all of equal fields, so that comparing and hashing them is as quick
    as can be: for small values that are keys everywhere. It stays for good."""
    made = _with(cls, {"__reduce__": _reduction})
    type.__setattr__(made, "__new__", _one_for_all(made))
    return made


@dataclass_transform(field_specifiers=(field,))
def mutable(cls: type[_X]) -> type[_X]:
    """The same with fields that may be assigned, and without a hash."""
    made = _with(cls, {"__init__": _constructor, "__eq__": _equality})
    type.__setattr__(made, "__hash__", None)
    return made


def _with(cls: type[_X], makers: Mapping[str, Callable[[type[Any]], Method]]) -> type[_X]:
    """The class with slots, and with these methods unless it defines them itself."""
    own = vars(cls)
    if cls.__doc__ is None:
        cls.__doc__ = cls.__qualname__  # or dataclass makes one of the signature, which takes long
    made = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    for name, maker in makers.items():
        if name not in own and not (name == "__hash__" and "__eq__" in own):
            setattr(made, name, _when_called(made, name, maker))
    if "__repr__" not in own:
        type.__setattr__(made, "__repr__", _shown)
    return made


def _when_called(cls: type[Any], name: str, maker: Callable[[type[Any]], Method]) -> Method:
    """A method that puts the one that is made of the fields in its place."""

    def first(*args: Any, **named: Any) -> Any:
        method = maker(cls)
        method.__qualname__ = f"{cls.__qualname__}.{name}"
        setattr(cls, name, method)
        return method(*args, **named)

    return first


def _constructor(cls: type[Any]) -> Method:
    given: dict[str, Any] = {"MISSING": MISSING}
    parameters, lines = ["self"], list[str]()
    for f in fields(cls):
        value = name = f.name
        if not f.init and f.default_factory is MISSING:
            continue  # what __post_init__ sets
        if f.default_factory is not MISSING:
            given[f"_{name}"] = f.default_factory
            parameters.append(f"{name}=MISSING")
            value = f"_{name}() if {name} is MISSING else {name}"
        elif f.default is not MISSING:
            given[f"_{name}"] = f.default
            parameters.append(f"{name}=_{name}")
        else:
            parameters.append(name)
        lines.append(f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    return _method(f"def method({', '.join(parameters)}):", lines or ["pass"], given)


def _one_for_all(cls: type[Any]) -> Method:
    given: dict[str, Any] = {"known": {}, "new": object.__new__}
    given |= {f"_{f.name}": f.default for f in fields(cls)}
    names = [f.name for f in fields(cls)]
    parameters = [f.name if f.default is MISSING else f"{f.name}=_{f.name}" for f in fields(cls)]
    key = f"({', '.join(names)},)"
    lines = [
        f"found = known.get({key})",
        "if found is None:",
        f" found = known[{key}] = new(cls)",
        *(f" found.{name} = {name}" for name in names),
        "return found",
    ]
    return _method(f"def method(cls, {', '.join(parameters)}):", lines, given)


def _reduction(cls: type[Any]) -> Method:
    values = _values("self", [f.name for f in fields(cls)])
    return _method("def method(self):", [f"return self.__class__, {values}"], {})


def _equality(cls: type[Any]) -> Method:
    names = _compared(cls)
    lines = [
        "if other.__class__ is not self.__class__:",
        " return NotImplemented",
        f"return {_values('self', names)} == {_values('other', names)}",
    ]
    return _method("def method(self, other):", lines, {})


def _hash(cls: type[Any]) -> Method:
    values = _values("self", _compared(cls))
    return _method("def method(self):", [f"return hash({values})"], {})


def _compared(cls: type[Any]) -> list[str]:
    return [f.name for f in fields(cls) if f.compare]


def _values(of: str, names: Sequence[str]) -> str:
    """The tuple of the fields, of which each is equal to itself, even if it is NaN."""
    return f"({''.join(f'{of}.{name},' for name in names)})"


def _method(head: str, lines: Sequence[str], given: dict[str, Any]) -> Method:
    exec("\n ".join([head, *lines]), given)
    made: Method = given["method"]
    return made


def _shown(self: Any) -> str:
    shown = (f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if f.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"
