"""What the schedule generator knows of a program's loops: enough to write directives that mostly apply."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from choices import chance
from draft import Draft, FuncDraft
from spans import Affine, only_constant, only_size


@dataclass(frozen=True, slots=True)
class Loop:
    """`extent` is known for loops over whole variables (affine) and for inner halves (constant)."""

    name: str
    roots: frozenset[str]
    extent: Affine | None
    kind: str = ""

    @property
    def constant(self) -> int | None:
        return None if self.extent is None else only_constant(self.extent)

    @property
    def size(self) -> str | None:
        return None if self.extent is None else only_size(self.extent)


Level = tuple[str, int | None, str]
"""Func, update, loop."""


@dataclass(slots=True)
class Stage:
    """One step of a Func and its loops, outermost first."""

    func: str
    update: int | None
    loops: list[Loop]
    reduce: frozenset[str] = frozenset()
    associative: bool = False
    scan: bool = False
    conditional: bool = False
    atomic: bool = False
    factored: bool = False
    general: frozenset[str] | None = None  # after `specialize`: the loops of the general copy
    reads: frozenset[str] = frozenset()
    product: bool = False  # a sum of products, for tensor instructions
    directives: tuple[str, ...] = ()  # that made its loops
    joins: Level | None = None  # the last of the loops that it has from another step

    @property
    def text(self) -> str:
        if self.update is None:
            return self.func
        return f"{self.func}.update" if self.update == 0 else f"{self.func}.update({self.update})"

    def reduces(self, loop: Loop) -> bool:
        return bool(loop.roots & self.reduce)


@dataclass(slots=True)
class Node:
    """A Func to schedule: written in the program, a wrapper, or made by rfactor."""

    name: str
    variables: tuple[str, ...]
    stages: list[Stage]
    output: bool = False
    spelling: str = ""  # `A.in(f)` for wrappers
    place: str = "root"  # or inline, or at
    level: Level | None = None
    registers: bool = False
    consumers: list[tuple[str, int | None]] = field(default_factory=list)

    @property
    def text(self) -> str:
        return self.spelling or self.name

    @property
    def pure_only(self) -> bool:
        return len(self.stages) == 1


def node_of(draft: Draft, f: FuncDraft) -> Node:
    """The default loops of a Func."""
    spans = dict(zip(f.variables, f.region, strict=True))
    exact = f.output  # regions of other Funcs are what the compiler infers

    def loop(v: str) -> Loop:
        return Loop(v, frozenset({v}), spans[v].extent() if exact else None)

    def names(reads: dict[str, object]) -> frozenset[str]:
        return frozenset(draft.aliases.get(n, n) for n in reads)

    stages = [Stage(f.name, None, [loop(v) for v in f.variables], reads=names({**f.reads}))]
    for n, u in enumerate(f.updates):
        loops = [loop(v) for v in u.pure]
        loops += [Loop(r, frozenset({r}), u.extents[r]) for r in u.reduce]
        stages.append(
            Stage(
                f.name,
                n,
                loops,
                frozenset(u.reduce[:1] if u.scan else u.reduce),
                u.associative,
                u.scan,
                " where " in u.text or " while " in u.text,
                reads=names({**u.reads}),
                product=u.product,
            )
        )
    spelling = f.other.name if f.other is not None and chance(draft.c, 50) else ""
    node = Node(f.name, f.variables, stages, f.output, spelling)
    node.place = "root" if f.output or f.updates else "inline"
    return node


def stage_of(nodes: dict[str, Node], func: str, update: int | None) -> Stage:
    return nodes[func].stages[0 if update is None else update + 1]


def readers(nodes: dict[str, Node], name: str) -> Iterator[tuple[str, int | None]]:
    """The stages that read a Func, seen through inlined ones."""
    for other in nodes.values():
        for stage in other.stages:
            if name in stage.reads and other.name != name:
                if other.place == "inline":
                    yield from readers(nodes, other.name)
                else:
                    yield other.name, stage.update


def levels_around(nodes: dict[str, Node], func: str, update: int | None) -> list[Level]:
    """The loops around a stage's innermost statement that may hold a Func, outermost first."""
    node = nodes[func]
    own: list[Level] = []
    stage = stage_of(nodes, func, update)
    owner = (func, update) if stage.joins is None else stage.joins[:2]
    for loop in stage.loops:
        if loop.kind == "vector":
            break
        if stage.general is None or loop.name in stage.general:
            own.append((*owner, loop.name))
        if stage.joins is not None and loop.name == stage.joins[2]:
            owner = (func, update)
    return [*outside(nodes, node), *own]


def outside(nodes: dict[str, Node], node: Node) -> list[Level]:
    """The loops around the place where a Func is computed."""
    if node.level is None:
        return []
    func, update, loop = node.level
    around = levels_around(nodes, func, update)
    at = [n for n, level in enumerate(around) if level == (func, update, loop)]
    return around[: at[0] + 1] if at else []


def common_levels(nodes: dict[str, Node], name: str) -> list[Level]:
    """The loops around every reader of a Func, outermost first."""
    found: list[Level] | None = None
    for func, update in readers(nodes, name):
        around = levels_around(nodes, func, update)
        found = around if found is None else [level for level in found if level in around]
    return found or []


def split_in(stage: Stage, loop: Loop, outer: str, inner: str, factor: int) -> tuple[Loop, Loop]:
    """Replaces the loop by its halves."""
    at = stage.loops.index(loop)
    halves = (
        replace(loop, name=outer, extent=None),
        replace(loop, name=inner, extent={"": factor}),
    )
    stage.loops[at : at + 1] = halves
    return halves


def mark(stage: Stage, loop: Loop, kind: str) -> None:
    stage.loops[stage.loops.index(loop)] = replace(loop, kind=kind)
