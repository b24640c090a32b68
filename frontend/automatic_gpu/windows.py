"""Sums of taps along a row, as filters of images: on tensor cores, which take some taps for many neighbours
as a product with a band; rows of the image come to shared memory ahead of their use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from hbc.frontend.automatic.text import Line, call
from hbc.frontend.automatic_gpu.device import REGISTERS, WARP
from hbc.frontend.automatic_gpu.grids import one_grid
from hbc.frontend.automatic_gpu.product_lines import index_names
from hbc.frontend.automatic_gpu.products import factors
from hbc.frontend.costs.dot import Dot
from hbc.frontend.costs.graph import Graph, Step
from hbc.frontend.costs.kinds import is_sum, own_names, sums_of
from hbc.frontend.costs.moves import Move, move
from hbc.frontend.costs.spans import length
from hbc.ir.algebra.form import coefficient
from hbc.ir.algebra.linear import linear
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import Memory
from hbc.ir.lang.walk import mentions

WARPS = 4
BAND = 8  # taps of a product
LEAST_TAPS, LEAST_ROW = 5, 128  # that are worth it
STEPS = (1, 2)  # from a sum to the next, in elements of the image
ROWS = 8  # of taps for which pixels are copied at a time
TOGETHER = 4  # of these whose products share the pixels that they have in registers
VECTOR = 16  # bytes that a thread copies at once
OWN_REGISTERS = 120


@record
class Window:
    """Sums along `row`, neighbours of which are `step` elements of the image apart; `down`: another variable
    that the image moves along, of which a warp has several; `tap` moves as `row` does, `taps` are the others.
    `names`: the holder's variables by those of the sums; `extents` at typical sizes."""

    sums: Step
    holder: str
    names: Mapping[str, str]
    row: str
    down: str
    outer: tuple[str, ...]
    tap: str
    taps: tuple[str, ...]
    image: ir.Access
    step: int
    extents: Mapping[str, int]


def window_of(graph: Graph, holder: str, dots: Iterable[Dot]) -> Window | None:
    """The window whose sums only this Func reads, element by element, if an instruction has its types."""
    names = sums_of(graph, holder)
    func = graph.funcs[names[0]] if len(names) == 1 else None
    if func is None or len(func.updates) != 1 or not is_sum(func) or len(func.variables) < 2:
        return None
    s = graph.steps[func.name][-1]
    found = factors(graph, s)
    if found is None or func.updates[0].condition is not None:
        return None
    known = graph.known(s, graph.box(func.name))
    extents = {v: length(known[v]) for v in (*s.pure, *s.reduce)}
    (own,) = (a for a in graph.steps[holder][0].reads if a.name == func.name)
    for weights, image in (found[:2], found[1::-1]):
        types = {weights.type.element, image.type.element}
        has_types = any(
            d.tile is Memory.MMA and d.sum == func.element and set(d.factors) == types for d in dots
        )
        sides = _sides(s, weights, image, extents) if has_types and not found[2] else None
        if sides is not None:
            tap, down, step = sides
            outer = tuple(v for v in s.pure if v not in (s.pure[-1], down))
            taps = tuple(r for r in s.reduce if r != tap)
            return Window(s, holder, own_names(own, func), s.pure[-1], down, outer, tap, taps, image,
                          step, extents)  # fmt: skip
    return None


def _sides(
    s: Step, weights: ir.Access, image: ir.Access, extents: Mapping[str, int]
) -> tuple[str, str, int] | None:
    """The tap along rows, the variable down, and the step; None where it is no window."""
    if any(move(weights, v) is not Move.FIXED for v in s.pure):
        return None
    last = linear(image.indices[-1])
    row, step = s.pure[-1], coefficient(last, s.pure[-1])
    near = [r for r in s.reduce if coefficient(last, r) == 1 and move(weights, r) is Move.NEXT]
    down = [v for v in s.pure[:-1] if move(image, v) is Move.FAR and extents[v] >= WARPS]
    alone = not any(mentions(i, row) for i in image.indices[:-1])
    if step not in STEPS or len(near) != 1 or not down or not alone or len(last.terms) != 2:
        return None
    if extents[near[0]] < LEAST_TAPS or extents[row] < LEAST_ROW:
        return None
    return near[0], down[-1], step


def window_lines(graph: Graph, w: Window, own: list[str]) -> list[Line]:
    """`own`: what the holder's first line begins with."""
    wide = (256 if w.taps or w.step > 1 else 512) if w.extents[w.row] >= 256 else LEAST_ROW
    high = min(4 // w.step, w.extents[w.down] // WARPS)
    x, y = w.names[w.row], w.names[w.down]
    outer = [w.names[v] for v in w.outer]
    (xo, xi), (yo, yi) = ([graph.name(v, part) for part in "oi"] for v in (x, y))
    yw, yv = graph.name(y, "w"), graph.name(y, "v")
    blocks = [*outer, yo, xo]
    fused, level = one_grid(graph, blocks)
    cut = (
        call("split", [x, xo, xi, wide]), call("split", [y, yo, yi, WARPS * high]),
        call("split", [yi, yw, yv, high]), call("reorder", [*blocks, yw, yv, xi]),
    )  # fmt: skip
    several = call("at_once", [max(REGISTERS // (WARPS * WARP * _registers(wide, high)), 1)])
    marks = (call("gpu_threads", [yw]), call("unroll", [yv]), call("vectorize", [xi]))
    return [
        Line(w.holder, (*own, *cut)),
        Line(w.holder, (*fused, call("gpu_blocks", [level]), several, *marks)),
        *_sums(graph, w, wide, high, f"{w.holder}, {level}"),
    ]  # fmt: skip


def _registers(wide: int, high: int) -> int:
    return wide * high // WARP + OWN_REGISTERS


def _sums(graph: Graph, w: Window, wide: int, high: int, level: str) -> list[Line]:
    sums, update = w.sums.func, w.sums.text
    yw, yv = graph.name(w.down, "w"), graph.name(w.down, "v")
    rows = call("split", [w.down, yw, yv, high])
    threads, unrolled = call("gpu_threads", [yw]), call("unroll", [yv])
    rc, rd, ro, ri = (graph.name(w.tap, part) for part in "cdoi")
    along = 2 * BAND if w.taps else 4 * BAND
    cuts = [call("split", [w.tap, rc, rd, along]), call("split", [rd, ro, ri, BAND])]
    *others, inner = w.taps or (None,)
    copied, within = rc, []
    if inner is not None:
        copied, sd, sp, si = (graph.name(inner, part) for part in "cdpi")
        together = graph.choices.pick(f"{sums}.together", 1, [TOGETHER])
        cuts.append(call("split", [inner, copied, sd, ROWS]))
        cuts.append(call("split", [sd, sp, si, together]))
        within = [sp, si]
    turns = [*(o for o in others if o), rc, *([copied] if within else [])]
    order = call("reorder", [*w.outer, *turns, yw, *within, ro, yv, w.row, ri])
    outer = [call("reorder", [*w.outer, yw, yv, w.row])] if w.outer else []
    return [
        Line(sums, (f"compute_at({level})", f"store_in({Memory.MMA})")),
        Line(sums, (rows, *outer, threads, unrolled, call("vectorize", [w.row]))),
        Line(update, (*cuts, rows)),
        Line(update, (order, call("pipeline", [copied, 2]), threads)),
        Line(update, (*(call("unroll", [v]) for v in (*within[1:], ro)), unrolled)),
        Line(update, ("atomic()", *(call("vectorize", [v]) for v in (w.row, ri)))),
        _copy(graph, w, w.step * (wide - 1) + along, f"{update}, {copied}"),
    ]  # fmt: skip


def _copy(graph: Graph, w: Window, reach: int, level: str) -> Line:
    """Rows of the image for some taps, as they lie: `ldmatrix` begins at any vector."""
    lanes = VECTOR // w.image.type.element.bytes
    func = graph.funcs.get(w.image.name)
    last = (index_names(w.image) if func is None else func.variables)[-1]
    padded = -(-reach // (2 * lanes)) * 2 * lanes
    place = (f"compute_at({level})", "store_in(shared)", call("pad_storage", [last, padded]))
    wide = graph.choices.pick(f"{w.sums.func}.wide", True, (False,))
    vectors = [call("vectorize", [last, lanes])] if wide else []
    return Line(f"{w.image.name}.in({w.sums.func})", (*place, *vectors))
