"""What names of a program stand for: what can be read at indices, Funcs, and the names that text reads."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tree_numbers import BEYOND, NAMES, Number, cast

from hbc.frontend.text import ast
from hbc.frontend.text.walk import children

Point = tuple[int, ...]
Env = dict[str, Any]


@dataclass
class Ref:
    """What may be read at indices: its type, and its value at a point."""

    element: Callable[[], str | None]
    at: Callable[[Point], Number]
    extents: Point = ()


@dataclass
class Kind:
    """The name of a type."""

    name: str


@dataclass
class Func:
    """Definitions of one Func, or of several together: each with the indices of the `for`s around it.
    `store`: the values in `box`, where there are updates."""

    names: tuple[Any, ...]
    steps: list[tuple[ast.Definition, Env]] = field(default_factory=list)
    types: dict[int, str | None] = field(default_factory=dict)
    box: tuple[range, ...] | None = None
    store: dict[Point, list[Number]] = field(default_factory=dict)
    filling: bool = False

    @property
    def variables(self) -> tuple[str, ...]:
        return tuple(i.text for i in self.steps[0][0].indices if isinstance(i, ast.Name))


class Enlarge(Exception):
    """A Func reads itself outside of what is computed of it."""

    def __init__(self, func: Func, at: Point) -> None:
        super().__init__()
        self.func, self.point = func, at


class Later:
    """What a name stands for, found out when it is asked for."""

    def __init__(self, find: Callable[[], Any]) -> None:
        self.find = find

    @property
    def found(self) -> Any:
        if not hasattr(self, "value"):
            self.value = self.find()
        return self.value


def array_ref(array: Any, kind: str) -> Ref:
    def at(point: Point) -> Number:
        inside = all(0 <= n < m for n, m in zip(point, array.shape, strict=True))
        return array[point] if inside else BEYOND

    assert NAMES[array.dtype] == kind
    return Ref(lambda: kind, at, array.shape)


EDGES: dict[str, Callable[[int, int], int]] = {
    "clamp_edge": lambda i, n: min(max(i, 0), n - 1),
    "zero_edge": lambda i, n: i,
    "mirror": lambda i, n: min(i % (2 * n), 2 * n - 1 - i % (2 * n)),
    "wrap": lambda i, n: i % n,
}


def edged(name: str, of: Ref) -> Ref:
    def at(point: Point) -> Number:
        value = of.at(tuple(EDGES[name](i, n) for i, n in zip(point, of.extents, strict=True)))
        return cast(0, str(of.element())) if value is BEYOND and name == "zero_edge" else value

    return Ref(of.element, at, of.extents)


def remembered(of: Callable[[Point], Number]) -> Callable[[Point], Number]:
    known: dict[Point, Number] = {}

    def at(point: Point) -> Number:
        if point not in known:
            known[point] = of(point)
        return known[point]

    return at


def around(box: tuple[range, ...] | None, point: Point) -> tuple[range, ...]:
    """The box with the point, and with as much again beyond it in that direction."""
    if box is None:
        return tuple(range(n, n + 1) for n in point)
    return tuple(
        range(
            min(b.start, n - len(b)) if n < b.start else b.start,
            max(b.stop, n + 1 + len(b)) if n >= b.stop else b.stop,
        )
        for b, n in zip(box, point, strict=True)
    )


def free(node: object) -> set[str]:
    """The names in it that nothing within it binds."""
    match node:
        case ast.Name(text=text):
            return {text}
        case ast.Let(name=name, value=value, body=body):
            return free(value) | free(body) - {name.text}
        case ast.Reduction(over=over, term=term, condition=condition):
            own = {o.name.text for o in over if isinstance(o, ast.Domain)}
            own |= {o.text for o in over if isinstance(o, ast.Name)}
            inside = free(term) | (set() if condition is None else free(condition))
            return inside - own | {
                n for o in over if isinstance(o, ast.Domain) for n in free(o.interval)
            }
        case _:
            return {n for c in children(node) for n in free(c)}
