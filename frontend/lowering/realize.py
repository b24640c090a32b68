"""Places Funcs at a level of the nest: their regions, their memory, and the stages that fill them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from hbc.frontend.lowering.bulk_copies import with_bulk_copy
from hbc.frontend.lowering.generate import Generator, generate_nest
from hbc.frontend.lowering.gpu_memory import memory_in
from hbc.frontend.lowering.gpu_nest import with_block
from hbc.frontend.lowering.run_ahead import beside
from hbc.frontend.plans.joined_order import Together, nests_at
from hbc.frontend.plans.place_on_gpu import Place
from hbc.frontend.plans.plan import At, FuncPlan, Level, StagePlan, step
from hbc.frontend.plans.reuse import is_stored_around
from hbc.frontend.plans.scan import scan_of
from hbc.frontend.regions.boxes import Site, boxes_at, stage_box
from hbc.frontend.regions.fold import Probe, check_folds, fold_factors, probe_of
from hbc.frontend.regions.folds_asked import initial_box, steps_folds, window_folds
from hbc.frontend.regions.hoisted import lifted
from hbc.frontend.regions.joined import in_one
from hbc.frontend.regions.nest import Nest
from hbc.frontend.regions.padded_extents import PaddedExtents, padded_box, padded_extents
from hbc.frontend.regions.padding import padded_roots
from hbc.frontend.regions.program import Program, Scope, is_piece, is_plain, not_negative
from hbc.frontend.regions.regions import Box, extent_of
from hbc.frontend.regions.slide import Window, slide_box, steps_of
from hbc.frontend.regions.storage import MOST_STORED, Storage, func_storage
from hbc.ir.algebra.bounds import Interval, constant_bounds
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import error
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.build import add, sub
from hbc.ir.lang.target import GPU
from hbc.ir.lang.types import TILES, Memory
from hbc.ir.lang.walk import block, substitute

MOST_STACK = 1 << 20  # bytes of one Func; threads have a few million

Rest = Callable[[Scope], ir.Stmt]


def realize(program: Program, site: Site, scope: Scope, rest: Rest) -> ir.Stmt:
    """The Funcs stored and computed at this level, callees first, then the rest of the body."""
    body = _realized(program, site, scope, rest)
    for f in program.plan.values():
        for one in alone(f) if f.hoist == site.level else ():
            buffers = frozenset(program.buffers.get(one.func.name, ()))
            allocate, body = lifted(one, buffers, body)
            if allocate is not None:
                body = replace(allocate, memory=memory_of(one, allocate.extent), body=body)
    return body


def _realized(program: Program, site: Site, scope: Scope, rest: Rest) -> ir.Stmt:
    plan, on_gpu = program.plan, program.target.machine == GPU
    computed = [f for f in plan.values() if f.compute == site.level]
    stored = [f for f in plan.values() if store_level(f) == site.level]
    if not computed and not stored:
        return rest(scope)
    needs = boxes_at(program, site, scope)
    boxes, windows, others = needs.boxes, needs.windows, needs.others
    asked = dict(boxes)
    padded = padded_extents(program, computed, site.nest, boxes, scope)
    names: list[tuple[str, ir.Expr]] = []
    nests = nests_at(plan, site.level)
    named: dict[str, dict[Interval, Interval]] = {}
    for group in nests:
        together: dict[Interval, Interval] = {}  # as Funcs of it before have called what is needed
        named |= {s.func: together for nest in group for s in nest}
    for f in computed:
        name = f.func.name
        boxes[name], scope, bound = _name_box(program, f, boxes[name], named[name], scope)
        names += bound
        named[name].update(zip(asked[name], boxes[name], strict=True))
    scope = replace(scope, needs={**scope.needs, **boxes})
    allocations: list[tuple[FuncPlan, Storage, ir.Expr]] = []
    probes: dict[At, Probe | None] = {}
    for f in stored:
        arrays = [one for one in alone(f) if one.func.name not in program.arrays]
        if not arrays:
            continue
        if f not in computed:
            boxes[f.func.name] = _sized(program, boxes[f.func.name], scope)
        folds = fold_factors(program, f, site.level, site.nest, boxes, scope, probes)
        if f.folds:
            probe = probe_of(program, f, site.level, site.nest, boxes, scope, probes)
            folds |= window_folds(f, probe, f.func.name in program.unfolded)
            folds |= steps_folds(program, f, boxes[f.func.name], others.get(f.func.name), scope)
        box, extents = boxes[f.func.name], padded.get(f.func.name)
        stored_box = box if extents is None else padded_box(box, extents)
        for one in arrays:
            buffer = scope.fresh(one.func.name, "buffer")
            storage, size = func_storage(one, buffer, stored_box, scope.ranges, folds)
            scope = scope.store(one.func.name, storage)
            if f.hoist is not None:
                program.buffers.setdefault(one.func.name, set()).add(buffer)
            allocations.append((one, storage, size))
    produced = [
        _produce(program, site, group, boxes, asked, windows, padded, scope) for group in nests
    ]
    body = _beside(program, nests, produced, scope, rest)
    for f, storage, size in reversed(allocations):
        memory = memory_in(f, size, scope.place) if on_gpu else memory_of(f, size)
        body = ir.Allocate(
            storage.buffer, f.func.element, size, memory, body, f.note, f.func.span, storage.swizzle
        )
    for n, value in reversed(names):
        body = ir.LetStmt(n, value, body)
    return body


def _beside(
    program: Program, nests: Sequence[Sequence[Together]], produced: Sequence[ir.Stmt], scope: Scope,
    rest: Rest,
) -> ir.Stmt:  # fmt: skip
    """What is computed at a level, then what reads it; or both at once, where Funcs run ahead."""
    ahead = [program.plan[group[0][0].func].ahead for group in nests]
    if not any(ahead):
        return block(*produced, rest(scope))
    early = [s for s, first in zip(produced, ahead, strict=True) if first]
    late = [s for s, first in zip(produced, ahead, strict=True) if not first]
    name = scope.fresh("thread")
    inside = scope.bind(name, Interval(ir.const_index(0), ir.const_index(1)))
    span = next(f.ahead_at for group in nests if (f := program.plan[group[0][0].func]).ahead)
    return beside(block(*early), block(*late, rest(inside)), name, span)


def alone(f: FuncPlan) -> list[FuncPlan]:
    """The plan as each array of the Func has it."""
    if not f.func.others:
        return [f]
    parts = (replace(f.func, name=p.name, element=p.element, others=()) for p in f.func.parts)
    return [replace(f, func=part) for part in parts]


def store_level(f: FuncPlan) -> Level:
    return f.compute if f.store is None else f.store


def _name_box(
    program: Program, f: FuncPlan, box: Box, named: Mapping[Interval, Interval], scope: Scope
) -> tuple[Box, Scope, list[tuple[str, ir.Expr]]]:
    """Bounds that are more than sums of names get names, so that code and addresses stay short; those
    that are `named` have theirs. Extents are not negative from here on."""
    names: list[tuple[str, ir.Expr]] = []
    out: list[Interval] = []
    for variable, x in zip(f.func.variables, box, strict=True):
        if x in named:
            out.append(named[x])
            continue
        low, extent = x.lo, not_negative(program, extent_of(x), scope)
        if low is None:
            raise ValueError("an open interval")
        if not is_piece(low):
            name = scope.fresh(f"{f.func.name}_{variable}_min")
            names.append((name, low))
            scope = scope.bind(name, Interval(low, low), low)
            low = ir.Var(name)
        extent, scope, bound = _name_extent(f"{f.func.name}_{variable}_n", "", extent, scope)
        names += bound
        out.append(Interval(low, simplify(sub(add(low, extent), 1))))
    return tuple(out), scope, names


def _sized(program: Program, box: Box, scope: Scope) -> Box:
    """The box with no extent below 0: memory for what no iteration needs."""
    out: list[Interval] = []
    for x in box:
        extent = extent_of(x)
        known = not_negative(program, extent, scope)
        if known is not extent and x.lo is not None:
            x = Interval(x.lo, simplify(sub(add(x.lo, known), 1)))
        out.append(x)
    return tuple(out)


def _name_extent(
    name: str, owner: str, extent: ir.Expr, scope: Scope
) -> tuple[ir.Expr, Scope, list[tuple[str, ir.Expr]]]:
    """The extent, by a new name if it is long, and what to bind around its use."""
    if is_plain(extent):
        return extent, scope, []
    name = scope.fresh(name, owner)
    _, most = constant_bounds(extent, scope.ranges)
    upper = extent if most is None or most > MOST_STORED else ir.const_index(most)
    inside = scope.bind(name, Interval(ir.const_index(0), upper), extent)
    return ir.Var(name), inside, [(name, extent)]


def _produce(
    program: Program, site: Site, nests: Sequence[Together], boxes: Mapping[str, Box],
    asked: Mapping[str, Box], windows: Mapping[str, Window], paddings: PaddedExtents, scope: Scope,
) -> ir.Stmt:  # fmt: skip
    """All steps of a Func, or of Funcs with loops in common, over their boxes; `asked` are the boxes before
    their bounds got names. Those that have room of their own fill it. Only the new steps of a scan
    with a window."""

    def at_level(level: At, nest: Nest, inner: Scope, rest: Rest) -> ir.Stmt:
        return realize(program, Site(level, nest), inner, rest)

    names: list[tuple[str, ir.Expr]] = []
    new: dict[str, Box] = {}
    for name in dict.fromkeys(s.func for nest in nests for s in nest):
        f, window = program.plan[name], windows.get(name)
        new[name] = boxes[name]
        if window is None and is_stored_around(f) and (f.func.updates or f.folds):
            check_folds(f, boxes[name], scope)
        if window is None and scan_of(f.func) is not None:
            continue
        sought = asked[name] if window is None else window.asked
        new[name], bound, inside = slide_box(
            program, f, site.level, site.nest, boxes[name], sought, scope
        )
        known = next((n for n, value in names if bound and value == bound[0][1]), None)
        if known is None:
            names, scope = names + bound, inside
        else:  # one that slides with another by the same steps
            own = {bound[0][0]: ir.Var(known)}
            new[name] = tuple(_with_low(x, own) for x in new[name])
    stages: list[ir.Stmt] = []
    for nest in nests:
        parts: list[Nest] = []
        for stage in nest:
            f = program.plan[stage.func]
            part, bound, scope = _nest(
                program, f, stage, new[stage.func], asked[stage.func], windows.get(stage.func),
                paddings, names, scope,
            )  # fmt: skip
            parts.append(part)
            names += bound
        g = Generator(program, program.plan[nest[0].func].func, at_level)
        made = generate_nest(g, in_one(parts, scope.ranges), scope)
        if (copied := program.plan[nest[0].func]).bulk:
            made = with_bulk_copy(copied, parts[0], made, scope)
        alone = program.target.machine == GPU and scope.place is Place.HOST
        stages.append(with_block(made, scope) if alone else made)
    body = block(*stages)
    for n, value in reversed(names):
        body = ir.LetStmt(n, value, body)
    return body


def _with_low(x: Interval, names: Mapping[str, ir.Expr]) -> Interval:
    return x if x.lo is None else Interval(substitute(x.lo, names), x.hi)


def _nest(
    program: Program, f: FuncPlan, stage: StagePlan, box: Box, asked: Box, window: Window | None,
    paddings: PaddedExtents, known: Sequence[tuple[str, ir.Expr]], scope: Scope,
) -> tuple[Nest, list[tuple[str, ir.Expr]], Scope]:  # fmt: skip
    """The nest of a step of a Func over a box, the names to bind around it, and the scope with them."""
    names: list[tuple[str, ir.Expr]] = []
    update = step(f.func, stage.update)
    starts: dict[str, ir.Expr] = {}
    extents: dict[str, ir.Expr] = {}
    limits: dict[str, ir.Expr] = {}
    region = stage_box(f, stage, box, scope, asked)
    if stage.update is None:
        region = initial_box(f, region)
    padding = paddings.get(f.func.name, (None,) * len(box))
    for variable, x, most in zip(f.func.variables, region, padding, strict=True):
        starts[variable] = x.lo if x.lo is not None else ir.const_index(0)
        extent = extent_of(x)
        if window is not None:
            extent = not_negative(program, extent, scope)
        extents[variable] = extent
        if most is None:
            most = _whole_extent(program, f, stage, variable, extent, scope)
        if most is not None and variable in stage.roots and extent != ir.const_index(most):
            extents[variable], limits[variable] = ir.const_index(most), extent
    for r in () if update is None else update.reduce:
        start, extent = (r.start, r.extent) if window is None else steps_of(window.steps)
        extent = not_negative(program, extent, scope)
        name = next((n for n, value in known if value == extent and stage.joins), None)
        bound: list[tuple[str, ir.Expr]] = []
        if name is None:
            extent, scope, bound = _name_extent(f"{r.name}_n", f.func.name, extent, scope)
        else:
            extent = ir.Var(name)
        names += bound
        starts[r.name], extents[r.name] = start, extent
    is_whole = f.func.name in program.padding.whole
    padded = padded_roots(f, stage) if is_whole else frozenset[str]()
    return Nest(stage, starts, extents, limits=limits, padded=padded), names, scope


def _whole_extent(
    program: Program, f: FuncPlan, stage: StagePlan, variable: str, extent: ir.Expr, scope: Scope
) -> int | None:
    """What an extent in tile memory that is no constant is at most: tiles have no numbers that are
    known only at run time, so that all of them are computed, under masks. The same for what a GPU's
    block computes, whose threads are as many as they are; a serial loop around them is the one it is."""
    in_block = program.target.machine == GPU and scope.place is Place.BLOCK
    if not (f.memory in TILES or in_block) or isinstance(extent, ir.Const):
        return None
    anywhere = f.memory in (Memory.AUTO, Memory.SHARED) and not stage.special
    if anywhere and (variable, ir.LoopKind.SERIAL) in {(x.dim, x.kind) for x in stage.loops}:
        return None
    _, most = constant_bounds(extent, scope.ranges)
    return most if most is not None and most <= MOST_STORED else None


LIMITED = {
    Memory.REGISTER: "in registers", Memory.STACK: "on the stack", Memory.AMX_TILE: "in tile memory",
}  # fmt: skip
"""Memory that has no room for arrays of which the size is known at run time alone."""


def memory_of(f: FuncPlan, size: ir.Expr) -> Memory:
    """Where the schedule says, else by size. HbcError for what the stack has no room for."""
    if f.memory in LIMITED:
        check_room(f, size)
    if f.memory is not Memory.AUTO:
        return f.memory
    small = isinstance(size, ir.Const) and int(size.value) * f.func.element.bytes <= 1 << 14
    return Memory.STACK if small else Memory.HEAP


def check_room(f: FuncPlan, size: ir.Expr) -> None:
    """HbcError unless the Func needs a constant number of bytes, where a thread's stack holds it one that
    it can hold."""
    name = f.func.name
    if not isinstance(size, ir.Const):
        tiles = f.memory is Memory.AMX_TILE
        other = "leave `store_in` out" if tiles else "store it on the heap"
        raise error(
            f"`{name}` cannot be {LIMITED[f.memory]}: how many elements it needs is not a constant", f.span,
            f"compute `{name}` at a loop inside a split with a constant factor, or {other}",
        )  # fmt: skip
    if f.memory is Memory.AMX_TILE:
        return
    needed = int(size.value) * f.func.element.bytes
    if needed > MOST_STACK:
        raise error(
            f"`{name}` needs {needed:,} bytes, and the stack has room for {MOST_STACK:,}", f.span,
            "compute a smaller piece of it at a time, or store it on the heap",
        )  # fmt: skip
