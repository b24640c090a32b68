"""Evaluates the checked program with NumPy, straight from its definition, with error bounds.

Independent of lowering: no loop nest, no schedule. Integers are exact; for floats, everything that
a legal schedule and compiler may compute at the declared types lies within `Reference.bound`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from hbc.frontend.oracle.compare import Comparison, Reference, compare
from hbc.frontend.oracle.points import Box, Stored, chunks, grid
from hbc.frontend.oracle.program import MAX_POINTS, Program, span_range
from hbc.frontend.oracle.region import regions
from hbc.frontend.oracle.store import put
from hbc.frontend.oracle.update import run_update
from hbc.frontend.oracle.value import Value, exact, work_dtype
from hbc.frontend.program.funcs import Func, Pipeline, values_of
from hbc.ir.lang.types import BOOL, DType
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

__all__ = ["Comparison", "Reference", "compare", "evaluate"]


def evaluate(
    p: Pipeline, sizes: Mapping[str, int], inputs: Mapping[str, Array],
    fused: Collection[DType] = (),
) -> dict[str, Reference]:  # fmt: skip
    """Every output of the pipeline. `inputs` have the declared dtypes and extents. Sums of half floats
    of the `fused` types may add products that were not rounded before. Raises HbcError when an input
    is read outside its extents."""
    with np.errstate(all="ignore"):
        program = Program(p, dict(sizes), {}, frozenset(fused))
        for image in p.inputs:
            data = inputs[image.name]
            value = exact(data, image.element)
            origin = (0,) * data.ndim
            program.stored[image.name] = Stored(
                image.name, image.element, value, origin, data.shape
            )
        for f in p.funcs:
            if f.table_shape is not None:
                cells = np.array(f.cells, numpy_dtype(f.element)).reshape(f.table_shape)
                origin = (0,) * cells.ndim
                program.stored[f.name] = Stored(
                    f.name, f.element, exact(cells, f.element), origin, cells.shape
                )
        shapes = {o.name: tuple(program.number(e) for e in o.extents) for o in p.outputs}
        whole = {name: _box(shapes[o.name]) for name, o in p.output_funcs.items()}
        _compute(
            program, {name: box for name, box in whole.items() if all(hi >= 0 for _, hi in box)}
        )
        return {o.name: _reference(program, o.name, o.element, shapes[o.name]) for o in p.outputs}


def _box(shape: tuple[int, ...]) -> Box:
    return tuple((0, extent - 1) for extent in shape)


def _compute(program: Program, targets: Mapping[str, Box]) -> None:
    """Evaluates the targets' boxes and all that they need into the program."""
    boxes = regions(program, targets, _compute)
    for func in program.pipeline.funcs:
        if func.name in boxes:
            _evaluate_func(program, func, boxes[func.name])


def _evaluate_func(program: Program, func: Func, boxes: tuple[Box, ...]) -> None:
    whole = boxes[0]
    origin = tuple(lo for lo, _ in whole)
    shape = tuple(hi - lo + 1 for lo, hi in whole)
    arrays = [
        Stored(p.name, p.element, Value(np.empty(shape, work_dtype(p.element))), origin, shape)
        for p in func.parts
    ]
    meanings = [program.meaning(value) for value in values_of(func.pure)]
    ranges = {v: span_range(s) for v, s in zip(func.variables, whole, strict=True)}
    for piece in chunks(ranges, MAX_POINTS):
        target = tuple(
            slice(start - o, start - o + count)
            for (start, count), o in zip(piece.values(), origin, strict=True)
        )
        for stored, meaning in zip(arrays, meanings, strict=True):
            put(stored, target, meaning(grid(piece, program.sizes)))
    program.stored |= {stored.name: stored for stored in arrays}
    for update, box in zip(func.updates, boxes[1:], strict=True):
        run_update(program, func, update, box)


def _reference(program: Program, name: str, element: DType, shape: tuple[int, ...]) -> Reference:
    if not all(shape):
        return Reference(element, np.zeros(shape, work_dtype(element)), np.zeros(shape))
    stored = program.stored[name]
    target = tuple(slice(-o, n - o) for o, n in zip(stored.origin, shape, strict=True))
    value = Value(stored.value.x[target], None)
    e = stored.value.e
    bound = np.zeros(shape) if e is None else e[target].astype(np.float64)
    if element == BOOL:
        bound = np.where(bound > 0, np.inf, 0.0)
    if element.is_float and e is not None:
        bound = bound * (1 + 2.0**-20)
    return Reference(element, value.x, bound)
