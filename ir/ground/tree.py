"""What lies below a node of a tree, and the node with other things there: made of the fields of its class
when they are first asked for, so that a class of nodes is all that a new kind of node takes.

A field holds nodes when its annotation names a kind of them: `Expr`, `Expr | None`, `tuple[Expr, ...]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum, auto
from typing import Any, TypeVar

from hbc.ir.ground.record import Method, method

T = TypeVar("T")
Kinds = Callable[[str], bool]
"""Whether a word of an annotation is such a kind of node."""


class Compound:
    """A node that has others below it, or may: once asked, it keeps the names that they read and that are
    not bound there, and the buffers that they load from."""

    __slots__ = ("free", "loaded")
    free: frozenset[str]
    loaded: frozenset[str]


class ByClass(dict[type, T]):
    """Something for each class of nodes, made when it is first asked for."""

    def __init__(self, make: Callable[[type[Any]], T]) -> None:
        self.make = make

    def __missing__(self, cls: type[Any]) -> T:
        made = self[cls] = self.make(cls)
        return made


def children_by_class(of: Kinds) -> ByClass[Method]:
    """Functions from a node to its children of some kinds, in the order of its fields."""

    def make(cls: type[Any]) -> Method:
        names, held = _fields(cls, [of])
        parts, optional = list[str](), ""
        for n, (amount, _) in held.items():
            if amount is How.OPTIONAL and n == max(held):
                optional = f"self.f{n}"
            else:
                parts.append(_LISTED[amount].format(f"self.f{n}"))
        text = f"({''.join(f'{part}, ' for part in parts)})"
        if [amount for amount, _ in held.values()] == [How.MANY]:
            text = f"self.f{min(held)}"
        if optional:
            more = f"({''.join(f'{part}, ' for part in [*parts, optional])})"
            text = f"{text} if {optional} is None else {more}"
        return method(["self"], [f"return {text}"], names, {"listed": _listed})

    return ByClass(make)


def map_by_class(
    of: Sequence[Kinds],
    adapted: Mapping[str, str] | None = None,
    makers: Mapping[type, Method] | None = None,
) -> ByClass[Method]:
    """Functions from a node and a function for each of the kinds to the node with its children changed by
    them, in the order of its fields; the node itself where none was. `adapted`: by annotation, what
    becomes of a field `{0}` when the first child is `{1}`. `makers`: what makes a node in place of its
    class."""

    def make(cls: type[Any]) -> Method:
        names, held = _fields(cls, of)
        changes = [
            f"f{n} = {_CHANGED[amount].format(f'self.f{n}', f'on{kind}')}"
            for n, (amount, kind) in held.items()
        ]
        first = next(
            (f"f{n}[0]" if amount is How.MANY else f"f{n}" for n, (amount, _) in held.items()), ""
        )
        values = [
            f"f{n}" if n in held
            else (adapted or {}).get(str(f.type), "{0}").format(f"self.f{n}", first)
            for n, f in enumerate(fields(cls)) if f.init
        ]  # fmt: skip
        same = " and ".join(f"f{n} is self.f{n}" for n in held)
        lines = [*changes, f"if {same}:", " return self", f"return made({', '.join(values)})"]
        given = {"made": (makers or {}).get(cls, cls), "each": _each, "all_of": _all_of}
        on = [f"on{kind}" for kind in range(len(of))]
        return method(["self", *on], lines if held else ["return self"], names, given)

    return ByClass(make)


class How(Enum):
    """How a field holds nodes. MIXED: as it may."""

    ONE = auto()
    OPTIONAL = auto()
    MANY = auto()
    MIXED = auto()


def how(annotation: str) -> How:
    if re.fullmatch(r"tuple\[[^\[]*, \.\.\.\]", annotation):
        return How.MANY
    if "tuple" in annotation:
        return How.MIXED
    return How.OPTIONAL if re.search(r"\bNone\b", annotation) else How.ONE


_LISTED = {
    How.ONE: "{}", How.OPTIONAL: "*listed({})", How.MANY: "*{}", How.MIXED: "*listed({})",
}  # fmt: skip
_CHANGED = {
    How.ONE: "{1}({0})", How.OPTIONAL: "None if {0} is None else {1}({0})",
    How.MANY: "all_of({0}, {1})", How.MIXED: "each({0}, {1})",
}  # fmt: skip


def _fields(cls: type[Any], of: Sequence[Kinds]) -> tuple[list[str], dict[int, tuple[How, int]]]:
    """The names of the fields, and by their number how those with nodes hold them, and of which kind.
    A class without fields holds none."""
    held: dict[int, tuple[How, int]] = {}
    all_fields = fields(cls) if is_dataclass(cls) else ()
    for n, f in enumerate(all_fields):
        text = str(f.type)
        words = re.findall(r"\w+", text)
        kind = next((k for k, has in enumerate(of) if any(map(has, words))), None)
        if kind is None:
            continue
        held[n] = how(text), kind
    return [f.name for f in all_fields], held


def _listed(value: Any) -> tuple[Any, ...]:
    if value is None:
        return ()
    return value if isinstance(value, tuple) else (value,)


def _each(value: Any, change: Callable[[Any], Any]) -> Any:
    if value is None:
        return None
    return _all_of(value, change) if isinstance(value, tuple) else change(value)


def _all_of(values: tuple[Any, ...], change: Callable[[Any], Any]) -> tuple[Any, ...]:
    new = tuple([change(v) for v in values])
    return values if all(a is b for a, b in zip(new, values, strict=True)) else new
