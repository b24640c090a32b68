"""The arrays of a kernel that one constant input and the sizes decide, and the statements that fill them.

They lie before all loops: a statement that stores to arrays allocated there, and loads nothing but the input,
tables and such arrays.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field, replace

from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.record import mutable, record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import and_, const, maximum, not_, or_, select
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import (
    block,
    free_variables,
    map_stmt,
    nodes_of,
    rename_buffer,
    statements,
    substitute,
)

EMPTY = ir.Block(())
_PLACES = (Memory.AUTO, Memory.HEAP, Memory.STACK)


@record
class _Path:
    """Down to a statement: conditions over the sizes that hold there, and the names of expressions over the
    sizes."""

    conditions: tuple[ir.Expr, ...] = ()
    names: Mapping[str, ir.Expr] = field(default_factory=dict)


@mutable
class _Array:
    """An array as an argument, and the constant inputs that it comes from."""

    argument: Argument
    sources: set[str] = field(default_factory=set)


class KeptArrays:
    """Those of a kernel. A program is looked through down to its loops."""

    def __init__(self, kernel: Kernel) -> None:
        self._sizes = {s.name for s in kernel.sizes}
        self._constants = {a.name: a for a in kernel.arguments if a.constant}
        self._tables = {t.name for t in kernel.tables}
        self._arrays: dict[str, _Array] = {}
        self._leaves: list[tuple[ir.Stmt, _Path]] = []
        self._heads: list[tuple[ir.Expr, _Path]] = []  # what names and allocations around them ask
        self._plain: set[ir.Expr] = set()  # conditions over the sizes
        self._body = _with_names_of_their_own(kernel.body, set())
        self._look(self._body, _Path())
        self._settle()
        self.rest = self._kept(lambda s: self._source(s) is None, lambda n: False)
        self._loaded = loaded(self.rest)

    def of(self, name: str) -> list[Argument]:
        """The arrays made of an input that the rest of the program loads."""
        found = self._arrays.items()
        return [a.argument for n, a in found if a.sources == {name} and n in self._loaded]

    def where_loaded(self, name: str) -> ir.Expr:
        """A condition over the sizes without which the rest of the program does not load an input."""
        rest = [(s, path) for s, path in self._leaves if self._source(s) is None]
        paths = [and_(*path.conditions) for n, path in (*rest, *self._heads) if name in loaded(n)]
        return or_(*dict.fromkeys(paths))

    def fill(self, name: str) -> ir.Stmt:
        """What fills the arrays made of an input. Those that only this loads are allocated in it."""
        return self._kept(
            lambda s: self._source(s) == name,
            lambda n: self._arrays[n].sources == {name} and n not in self._loaded,
        )

    def _kept(self, wanted: Callable[[ir.Stmt], bool], allocated: Callable[[str], bool]) -> ir.Stmt:
        """The statements that are wanted, with what is around them."""

        def kept(s: ir.Stmt) -> ir.Stmt:
            match s:
                case ir.Block(body=body):
                    return block(*(kept(x) for x in body))
                case ir.If() if s.condition in self._plain:
                    then = kept(s.then)
                    otherwise = None if s.otherwise is None else kept(s.otherwise)
                    none = is_empty(then) and (otherwise is None or is_empty(otherwise))
                    return EMPTY if none else replace(s, then=then, otherwise=otherwise)
                case ir.LetStmt():
                    inner = kept(s.body)
                    return EMPTY if is_empty(inner) else replace(s, body=inner)
                case ir.Allocate() if s.memory in _PLACES:
                    inner = kept(s.body)
                    if is_empty(inner) or (s.buffer in self._arrays and not allocated(s.buffer)):
                        return inner
                    used = s.buffer in stored(inner) | loaded(inner)
                    return replace(s, body=inner) if used else inner
            return s if wanted(s) else EMPTY

        return kept(self._body)

    def _look(self, s: ir.Stmt, path: _Path) -> None:
        match s:
            case ir.Block(body=body):
                for x in body:
                    self._look(x, path)
            case ir.If() if self._is_plain(s.condition, path):
                self._plain.add(s.condition)
                here = substitute(s.condition, path.names)
                self._look(s.then, replace(path, conditions=(*path.conditions, here)))
                if s.otherwise is not None:
                    other = (*path.conditions, not_(here))
                    self._look(s.otherwise, replace(path, conditions=other))
            case ir.LetStmt():
                self._heads.append((s.value, path))
                if self._is_plain(s.value, path):
                    names = {**path.names, s.name: substitute(s.value, path.names)}
                    path = replace(path, names=names)
                self._look(s.body, path)
            case ir.Allocate() if s.memory in _PLACES:
                self._heads.append((s.extent, path))
                if self._is_plain(s.extent, path):
                    extents = (_extent(s.extent, path),)
                    self._arrays[s.buffer] = _Array(Argument(s.buffer, s.element, extents, False))
                self._look(s.body, path)
            case _:
                self._leaves.append((s, path))

    def _settle(self) -> None:
        """Leaves out arrays that other statements store to, or that come from several inputs."""
        before = -1
        while before != len(self._arrays):
            before = len(self._arrays)
            for a in self._arrays.values():
                a.sources.clear()
            for s, path in self._leaves * 2:  # what is loaded has its sources the second time
                if self._is_fill(s, path):
                    for name in stored(s) & set(self._arrays):
                        self._arrays[name].sources |= self._sources(s)
                else:
                    self._arrays = {n: a for n, a in self._arrays.items() if n not in stored(s)}
            self._arrays = {n: a for n, a in self._arrays.items() if len(a.sources) == 1}

    def _is_fill(self, s: ir.Stmt, path: _Path) -> bool:
        """Whether a statement stores to such arrays alone and depends on nothing else."""
        inner = {n.buffer for n in statements(s) if isinstance(n, ir.Allocate)}
        strides = {
            a.stride_name(d) for a in self._constants.values() for d in range(len(a.extents))
        }
        known = {*self._sizes, *path.names, *strides}
        into = stored(s) - inner
        return (
            bool(into) and into <= set(self._arrays)
            and loaded(s) <= {*self._arrays, *self._constants, *self._tables, *inner}
            and free_variables(s) <= known
            and not any(isinstance(n, ir.Assert) for n in statements(s))
        )  # fmt: skip

    def _sources(self, s: ir.Stmt) -> set[str]:
        """The constant inputs that a statement depends on."""
        read = loaded(s)
        through = [self._arrays[n].sources for n in read if n in self._arrays]
        return (read & set(self._constants)).union(*through)

    def _source(self, s: ir.Stmt) -> str | None:
        """The input whose arrays a statement fills; None where it fills none."""
        found = [self._arrays[n].sources for n in sorted(stored(s)) if n in self._arrays]
        return min(found[0]) if found else None

    def _is_plain(self, e: ir.Expr, path: _Path) -> bool:
        """Whether the sizes alone decide the value."""
        return not loaded(e) and free_variables(e) <= self._sizes | set(path.names)


def stored(s: ir.Stmt) -> set[str]:
    return {x.buffer for x in statements(s) if isinstance(x, ir.Store)}


def loaded(n: ir.Node) -> set[str]:
    return {x.buffer for x in nodes_of(n, ir.Load, ir.Prefetch)}


def is_empty(s: ir.Stmt) -> bool:
    return isinstance(s, ir.Block) and not s.body


def _extent(e: ir.Expr, path: _Path) -> ir.Expr:
    """How many elements an array has; none where its place is not reached."""
    found = maximum(substitute(e, path.names), 0)
    for condition in path.conditions:
        found = select(condition, found, const(0))
    return simplify(found)


def _with_names_of_their_own(s: ir.Stmt, taken: set[str]) -> ir.Stmt:
    """Arrays of different branches may have one name: afterwards each has its own."""
    match s:
        case ir.Block() | ir.If() | ir.LetStmt():
            return map_stmt(s, lambda e: e, lambda c: _with_names_of_their_own(c, taken))
        case ir.Allocate() if s.memory in _PLACES:
            name, count = s.buffer, 1
            while name in taken:
                count += 1
                name = f"{s.buffer}_{count}"
            taken.add(name)
            inner = s.body if name == s.buffer else rename_buffer(s.body, s.buffer, name)
            return replace(s, buffer=name, body=_with_names_of_their_own(inner, taken))
    return s
