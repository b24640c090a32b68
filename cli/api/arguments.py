"""From the arguments of a call to sizes, addresses and strides, with every mistake named."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hbc.cli.api.said import in_python
from hbc.cli.api.view import CPU, View, check_element
from hbc.cli.files.nibbles import unpacked
from hbc.cli.files.scalars import parameters, scalar_array
from hbc.cli.files.sizes import Shape, extents, given_sizes, infer_sizes
from hbc.codegen.c.by_value import by_value
from hbc.frontend.program.funcs import Image, Pipeline
from hbc.ir.ground.diag import ArgumentError, Diagnostic, HbcError, InternalError, did_you_mean
from hbc.ir.ground.record import record
from hbc.ir.lang.kernel import Packed
from hbc.ir.lang.types import BOOL, F32, F64, I4, DType

if TYPE_CHECKING:
    from hbc.cli.api.library import Library

_GIVEN = "it is given to hbc.compile(..., {}), not to a call"
OF_COMPILE = {n: _GIVEN.format(n + "=") for n in ("threads", "target", "schedule", "on_cpu")}
"""Arguments of `hbc.compile` that a call is given by mistake, and what to do instead."""


# Floats below are rounded to a number that the type holds: half a unit above its largest (IEEE 754).
_LIMITS = {F32: math.ldexp(2 - 2.0**-24, 127), F64: math.inf}


@record
class Plan:
    """What calls on arrays of the same shapes and strides have in common. `strides`: of each array, in
    elements without the last, or None when all are dense. `outputs`: shape and element type of each."""

    sizes: tuple[int, ...]
    names: tuple[str, ...]
    strides: tuple[tuple[int, ...], ...] | None
    outputs: tuple[tuple[tuple[int, ...], DType], ...]
    device: str

    def call(self, library: Library, addresses: Sequence[Any], stream: int | None) -> int:
        """Calls the code; its error code."""
        on_device = self.device != CPU
        if self.strides is None and not on_device:
            return int(library.dense(*self.sizes, *addresses))
        behind = (stream or 0,) if on_device else ()
        if self.strides is None:
            return int(library.dense_device(*self.sizes, *addresses, *behind))
        arguments = list(self.sizes)
        for address, apart in zip(addresses, self.strides, strict=True):
            arguments += (address, *apart)
        strided = library.strided_device if on_device else library.strided
        return int(strided(*arguments, *behind))


class Parameters:
    """What calls of a kernel take, in the order of the file. `each`: its name in messages, how it is taken if
    it is a scalar, and whether it serves as a size, which the code is given as such."""

    def __init__(self, p: Pipeline) -> None:
        types = parameters(p)
        self._pipeline = p
        self.at = {name: at for at, name in enumerate(types)}
        sizes = {s.name for s in p.scalar_sizes}
        self.sizes = frozenset(s.name for s in p.sizes) - sizes
        self.each = [
            (f"`{name}`", None if element is None else taken(name, element), name in sizes)
            for name, element in types.items()
        ]

    def in_order(
        self, arrays: Sequence[Any], named: Mapping[str, Any]
    ) -> tuple[Sequence[Any], tuple[tuple[str, int], ...]]:
        """The values of all parameters, and the sizes given by name."""
        if not named and len(arrays) == len(self.each):
            return arrays, ()
        values = [*arrays, *self.each[len(arrays) :]]  # all of which are replaced
        sizes = []
        given = len(arrays)
        for name, value in named.items():
            at = self.at.get(name, -1)
            if at >= len(arrays):
                values[at] = value
                given += 1
            elif at < 0 and name in self.sizes:
                sizes.append((name, size_of(name, value)))
            else:
                given = -1
                break
        if given != len(self.each):
            arrays_in_order(self._pipeline, arrays, named)  # says what is wrong
            raise InternalError(f"{self._pipeline.name}: arguments are right and not in order")
        return values, tuple(sizes)


def texts_of(plan: Plan) -> list[str]:
    """`N = 4` for each size."""
    return [f"{n} = {v}" for n, v in zip(plan.names, plan.sizes, strict=True)]


def arrays_in_order(
    p: Pipeline, arrays: Sequence[Any], named: Mapping[str, Any]
) -> tuple[list[Any], dict[str, int]]:
    """The inputs in the order of the file, scalars as arrays without dimensions, and the sizes among the
    arguments."""
    types = parameters(p)
    names = list(types)
    sizes = {s.name for s in p.sizes if s.element is None}
    if len(arrays) > len(names):
        takes = ", ".join(f"`{n}`" for n in names) or "none"
        raise ArgumentError(
            Diagnostic(f"{len(arrays)} inputs are given, `{p.name}` takes {len(names)}: {takes}")
        )
    found = dict(zip(names, arrays, strict=False))
    given: dict[str, int] = {}
    for name, value in named.items():
        if name in sizes:
            given[name] = size_of(name, value)
        elif name in found:
            raise ArgumentError(Diagnostic(f"input `{name}` is given twice"))
        elif name in names:
            found[name] = value
        else:
            known = [*names, *sorted(sizes)]
            there = f"there is {', '.join(f'`{k}`' for k in known)}"
            hint = OF_COMPILE.get(name) or did_you_mean(name, known) or there
            raise ArgumentError(
                Diagnostic(f"`{p.name}` has no input and no size `{name}`", hint=hint)
            )
    missing = [f"`{n}`" for n in names if n not in found]
    if missing:
        raise ArgumentError(Diagnostic(f"`{p.name}` needs {', '.join(missing)} too"))
    for name, element in types.items():
        if element is not None:
            try:
                found[name] = scalar_array(name, element, found[name])
            except HbcError as failure:
                raise ArgumentError(failure.diagnostics) from None
    given |= {s.name: int(found[s.name][()]) for s in p.scalar_sizes}
    return [found[i.name] for i in p.inputs], given


def arrays_in_outputs(names: Sequence[str], out: Any) -> Sequence[Any]:
    """The arrays of `out` in the order of the file; none when it is None."""
    if out is None:
        return ()
    if isinstance(out, Mapping):
        missing = [name for name in names if name not in out]
        if missing or len(out) != len(names):
            listed = ", ".join(f"`{name}`" for name in names)
            raise ArgumentError(Diagnostic(f"`out` is for the outputs {listed}, all of them"))
        return [out[name] for name in names]
    found = list(out) if isinstance(out, list | tuple) else [out]
    if len(found) != len(names):
        raise ArgumentError(
            Diagnostic(f"`out` has {len(found)} arrays, the kernel {len(names)} outputs")
        )
    return found


def plan_of(
    p: Pipeline,
    settings: Mapping[str, str],
    inputs: Sequence[Any],
    outs: Sequence[Any],
    given: Mapping[str, int],
    view_of: Callable[[Any, str], View],
    shapes_held: Mapping[str, tuple[int, ...]] | None = None,
) -> Plan:
    """Checks types, devices, shapes and strides of what `view_of` sees. `shapes_held`: of integers of 4 bits,
    by input, where more is known than the shape of their bytes. ArgumentError with what is wrong, at which
    array."""
    both = [*zip(p.inputs, inputs, strict=True), *zip(p.outputs, outs, strict=False)]
    images = [i for i, _ in both if not i.is_scalar]
    views = [view_of(a, _what(i)) for i, a in both if not i.is_scalar]
    device = _device(images, views)
    for image, view in zip(images, views, strict=True):
        if image.packed is not None and view.element != image.element:
            raise ArgumentError(_unpacked(image, image.packed, view))
        check_element(view, image.element, _what(image))
    begin = len(images) - len(outs)
    for image, view in zip(images[begin:], views[begin:], strict=True):
        if not view.writable:
            raise ArgumentError(Diagnostic(f"{_what(image)} is read-only, and an output"))
    shapes = tuple(
        _shape(image, view, (shapes_held or {}).get(image.name))
        for image, view in zip(images, views, strict=True)
    )
    try:
        sizes = infer_sizes(p, {**given_sizes(p, settings), **given}, shapes, {})
    except HbcError as failure:
        raise ArgumentError(in_python(failure.diagnostics)) from None
    strides = None
    if not all(view.is_dense() for view in views):
        by_name = {i.name: v.row_strides(_what(i)) for i, v in zip(images, views, strict=True)}
        passed = [i for i in p.inputs if i.name not in p.in_place.values()]
        made = [by_name.get(i.name, []) for i in (*passed, *p.outputs[: len(outs)])]
        made += [_dense(extents(o, sizes)) for o in p.outputs[len(outs) :]]
        strides = tuple(tuple(s) for s in made)
    results = tuple((extents(o, sizes), o.element) for o in p.outputs)
    return Plan(tuple(sizes.values()), tuple(sizes), strides, results, device)


def _shape(image: Image, view: View, held: tuple[int, ...] | None) -> Shape:
    origin = f"the array for {_what(image)}"
    if image.packed is None or held is None:
        return Shape(image, view.shape, origin)
    return Shape(unpacked(image, image.packed), held, origin)


def _unpacked(image: Image, held: Packed, view: View) -> Diagnostic:
    """What a call with an array of the wrong type for integers of 4 bits is told."""
    own = "int4" if held.element == I4 else "uint4"
    return Diagnostic(
        f"{_what(image)} holds {view.type_name}, but is declared {held.element}",
        hint=f"pass it as an array of ml_dtypes.{own}, or as bytes (numpy.uint8) of two each, the first "
        "in the low bits",
    )


def _what(image: Image) -> str:
    return f"`{image.name}`"


def size_of(name: str, value: Any) -> int:
    """A size that a call gives by name. ArgumentError for what is no integer."""
    try:
        return int(value.__index__())
    except AttributeError:
        raise ArgumentError(
            Diagnostic(f"size `{name}` is {value!r}, which is no integer")
        ) from None


def _device(images: Sequence[Image], views: Sequence[View]) -> str:
    """The one that all arrays lie on."""
    devices = {view.device for view in views} or {CPU}
    if len(devices) > 1:
        where = ", ".join(f"`{i.name}` on {v.device}" for i, v in zip(images, views, strict=True))
        raise ArgumentError(Diagnostic(f"all arrays lie on one device: {where}"))
    return devices.pop()


def _dense(shape: Sequence[int]) -> list[int]:
    """Strides in elements of a new array, without the last."""
    found, step = [], 1
    for length in reversed(shape[1:]):
        step *= max(length, 1)
        found.append(step)
    return found[::-1]


def taken(name: str, element: DType) -> Callable[[Any], Any]:
    """How a scalar of the type is given to the code: numbers of Python's as they are, which ctypes
    rounds as C does, and others by way of an array without dimensions. ArgumentError for what is none."""

    def otherwise(value: Any) -> Any:
        try:
            return by_value(element.name, scalar_array(name, element, value).tobytes())
        except HbcError as failure:
            raise ArgumentError(failure.diagnostics) from None

    if element.is_int:
        low, high = element.limits
        return lambda v: v if type(v) is int and low <= v <= high else otherwise(v)
    if element in _LIMITS:
        limit = _LIMITS[element]
        return lambda v: v if type(v) is float and -limit < v < limit else otherwise(v)
    if element == BOOL:
        return lambda v: int(v) if type(v) is bool else otherwise(v)
    return otherwise
