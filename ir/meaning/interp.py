"""Runs kernels with NumPy, element by element, and refuses what no kernel may do.

`run` is the definition that every pass and backend is held to. A kernel becomes one Python function
(see `interp_code`), so a kernel that is run often is best prepared once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from types import TracebackType
from typing import Any, Protocol

import numpy as np

from hbc.ir.ground.counted import counted
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Argument, Kernel
from hbc.ir.lang.walk import nodes
from hbc.ir.meaning.arith_scalar import python_scalar
from hbc.ir.meaning.interp_buffers import InterpError, argument, constant, element_strides, has_gap
from hbc.ir.meaning.interp_code import FILE, Code
from hbc.ir.meaning.interp_copies import Copies, Products, Signals
from hbc.ir.meaning.interp_expr import emit
from hbc.ir.meaning.interp_stmt import allocator, emit_statement
from hbc.ir.meaning.numpy_types import Array, numpy_dtype

__all__ = ["InterpError", "Prepared", "evaluate", "numpy_dtype", "prepare", "run"]


class Watched(Protocol):
    """Who is told what a kernel stores to a buffer."""

    def store(self, at: int, value: Any) -> None: ...


Prepared = Callable[[Mapping[str, int], Mapping[str, Array]], None]
"""A kernel ready to be run on sizes and arrays."""


def run(
    kernel: Kernel, sizes: Mapping[str, int], arrays: Mapping[str, Array], strict: bool = True
) -> None:
    """Runs the kernel, writing the output arrays in place.

    Arrays have the arguments' dtypes and shapes; they may be strided, with a last stride of one
    element. Raises InterpError for a failed check or assertion, a size or array that does not fit,
    an access outside a buffer, and (when `strict`) the load of an element that was never stored;
    otherwise such a load gives poison."""
    prepare(kernel, strict)(sizes, arrays)


def prepare(
    kernel: Kernel, strict: bool = True, watched: Mapping[str, Watched] | None = None
) -> Prepared:
    """The kernel as a function to be called as `run` is. What it stores to a buffer that is `watched`, no
    buffer of its own, is told to its watcher."""
    code = Code(instructions={i.name: i for i in kernel.instructions})
    code.objects |= {
        "InterpError": InterpError,
        "Copies": Copies,
        "Products": Products,
        "Signals": Signals,
        "allocate": allocator(strict),
        "defaultdict": defaultdict,
    }
    for name, watcher in (watched or {}).items():
        code.buffers[name] = code.refer(watcher)
    for table in kernel.tables:
        data = np.array(table.values, numpy_dtype(table.element))
        code.buffers[table.name] = code.refer(constant(table.name, data))
    names = [size.name for size in kernel.sizes]
    arrays_of = [a for a in kernel.arguments if not a.is_scalar]
    by_value = [a for a in kernel.arguments if a.is_scalar]
    names += [a.stride_name(d) for a in arrays_of for d in range(len(a.extents) - 1)]
    names += [a.name for a in by_value]
    parameters = []
    for name in names:
        parameters.append(code.fresh("s"))
        code.variables[name] = parameters[-1]
    for one in arrays_of:
        parameters.append(code.fresh("b"))
        code.buffers[one.name] = parameters[-1]
    checks = [evaluator(check.condition, names) for check in kernel.checks]
    shapes = [[evaluator(e, names) for e in a.extents] for a in arrays_of]
    followed = [(g, evaluator(g.where, names)) for g in kernel.gapless]
    code.line("copies = Copies()")
    code.line("products = Products()")
    emit_statement(code, kernel.body)
    function = _compile(code, parameters)

    def call(sizes: Mapping[str, int], arrays: Mapping[str, Array]) -> None:
        given: dict[str, Any] = dict(_sizes(kernel, sizes))
        with np.errstate(all="ignore"):
            for one in by_value:
                value = _fitting(one, _present(one, arrays).shape, arrays)[()]
                given[one.name] = python_scalar(value, one.element)
            taken = dict(arrays)
            for g, where in followed:
                if has_gap(arrays[g.name], g.dim) and where(given):
                    taken[g.name] = arrays[g.name].copy(order="C")
            arrays, theirs = taken, arrays
            for one in arrays_of:
                strides = element_strides(one.name, _present(one, arrays))
                given |= {one.stride_name(d): s for d, s in enumerate(strides)}
            for check, holds in zip(kernel.checks, checks, strict=True):
                if not holds(given):
                    raise InterpError(check.message)
            buffers = []
            for one, extents in zip(arrays_of, shapes, strict=True):
                array = _fitting(one, tuple(int(e(given)) for e in extents), arrays)
                if one.aliases:
                    array[...] = _present(replace(one, name=one.aliases), arrays)
                begins = one.output and not one.aliases
                buffers.append(argument(one.name, array, one.output, strict, begins))
            if not any(arrays[a.name].size for a in kernel.arguments if a.output):
                return
            _guarded(code, function, [*(given[name] for name in names), *buffers])
            for one in arrays_of:
                if one.output and arrays[one.name] is not theirs[one.name]:
                    theirs[one.name][...] = arrays[one.name]

    return call


def evaluate(e: ir.Expr, env: Mapping[str, Any], buffers: Mapping[str, Array]) -> Array:
    """The lanes of `e` as a vector (of one element for a scalar). `env` has its free variables,
    `buffers` what its loads read, as arrays that are read flat."""
    code = Code()
    for name, array in buffers.items():
        code.buffers[name] = code.refer(constant(name, np.ascontiguousarray(array).ravel()))
    for n in nodes(e):
        if isinstance(n, ir.Var) and n.name in env and n.name not in code.variables:
            code.variables[n.name] = code.refer(_given(env[n.name], n))
    with np.errstate(all="ignore"):
        code.line(f"return {emit(code, e)}")
        return np.atleast_1d(np.asarray(_compile(code, [])(), numpy_dtype(e.type.element)))


def evaluator(e: ir.Expr, names: list[str]) -> Callable[[Mapping[str, int]], Any]:
    """A scalar expression over index variables as a function of their values."""
    if isinstance(e, ir.Const):
        always = e.value
        return lambda values: always
    code = Code(variables={name: f"x{n}" for n, name in enumerate(names)})
    code.line(f"return {emit(code, e)}")
    function = _compile(code, list(code.variables.values()))
    return lambda values: function(*(values.get(name) for name in names))


def _compile(code: Code, parameters: list[str]) -> Callable[..., Any]:
    source = code.source(f"def kernel({', '.join(parameters)}):")
    namespace: dict[str, Any] = dict(code.objects)
    exec(compile(source, FILE, "exec"), namespace)
    function: Callable[..., Any] = namespace["kernel"]
    return function


def _given(value: Any, variable: ir.Var) -> Any:
    array = np.asarray(value, numpy_dtype(variable.type.element))
    return array if variable.type.lanes > 1 else python_scalar(array[()], variable.type.element)


def _sizes(kernel: Kernel, sizes: Mapping[str, int]) -> dict[str, int]:
    for size in kernel.sizes:
        if size.name not in sizes:
            raise InterpError(f"the size `{size.name}` is missing")
        if sizes[size.name] < 0:
            raise InterpError(f"the size `{size.name}` is {sizes[size.name]}")
        if size.fixed not in (None, sizes[size.name]):
            raise InterpError(f"the size `{size.name}` is fixed to {size.fixed}")
    return {size.name: int(sizes[size.name]) for size in kernel.sizes}


def _present(one: Argument, arrays: Mapping[str, Array]) -> Array:
    array = arrays.get(one.name)
    if array is None:
        raise InterpError(f"the array `{one.name}` is missing")
    if array.ndim != len(one.extents):
        raise InterpError(
            f"`{one.name}` has {counted(array.ndim, 'dimension')}, not {len(one.extents)}"
        )
    return array


def _fitting(one: Argument, shape: tuple[int, ...], arrays: Mapping[str, Array]) -> Array:
    array = arrays[one.name]
    if array.dtype != numpy_dtype(one.element):
        raise InterpError(f"`{one.name}` is {array.dtype}, not {one.element}")
    if array.shape != shape:
        raise InterpError(f"`{one.name}` has shape {array.shape}, not {shape}")
    return array


def _guarded(code: Code, function: Callable[..., Any], args: list[Any]) -> None:
    try:
        function(*args)
    except InterpError as failure:
        place = _place(code, failure.__traceback__)
        raise InterpError(f"{failure}{place}") from None


def _place(code: Code, trace: TracebackType | None) -> str:
    """The values of the loop variables where an error arose."""
    values: dict[str, int] = {}
    while trace is not None:
        frame = trace.tb_frame
        if frame.f_code.co_filename == FILE:
            variables = frame.f_locals
            values |= {name: variables[py] for py, name in code.loops.items() if py in variables}
        trace = trace.tb_next
    shown = ", ".join(f"{name} = {value}" for name, value in values.items())
    return f" (last at {shown})" if shown else ""
