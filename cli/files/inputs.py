"""The arrays and sizes of one run: files given, files and fills of the example, inferred sizes."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from hbc.cli.files.data import read_array
from hbc.cli.files.loaded import Loaded
from hbc.cli.files.nibbles import in_pairs, unpacked, within
from hbc.cli.files.scalars import given_scalars
from hbc.cli.files.sizes import Shape, extents, given_sizes, infer_sizes, size_value
from hbc.cli.show.report import notice
from hbc.frontend.program.funcs import Example, Fill, Image, Pipeline
from hbc.ir.ground.diag import Diagnostic, HbcError, UsageError, did_you_mean, error
from hbc.ir.ground.record import record

if TYPE_CHECKING:
    from hbc.cli.files.loaded import Array

NO_EXAMPLE = Example("", (), ())
RANDOM = Fill("random", (1,))  # for inputs that no example fills


@record
class Run:
    """What one run works on. `rate` is that of the first sound among the inputs."""

    sizes: Mapping[str, int]
    inputs: Mapping[str, Array]
    rate: int | None = None


def choose_example(p: Pipeline, name: str | None) -> Example:
    """The example of that name, else the first, else one that says nothing."""
    if name is None:
        return p.examples[0] if p.examples else NO_EXAMPLE
    for example in p.examples:
        if example.name == name:
            return example
    names = [example.name for example in p.examples]
    listed = ", ".join(f"`{one}`" for one in names)
    hint = did_you_mean(name, names) or f"there is {listed or 'none'}"
    raise UsageError(Diagnostic(f"there is no example `{name}`", hint=hint))


def gather_inputs(
    p: Pipeline, settings: Mapping[str, str], example: Example, files: Mapping[str, Path]
) -> Run:
    """Reads the files (numbers, for scalars), infers the sizes, fills the other inputs as the example
    says (random when it says nothing). HbcError when a file does not fit or sizes contradict each other."""
    fills = dict(example.fills)
    numbers, scalars, files = given_scalars(p, files)
    given = {**given_sizes(p, settings), **numbers}
    from_example = {
        image.name: path
        for image in p.inputs
        if image.name not in files and (path := _file_of(p, fills.get(image.name))) is not None
    }
    paths = {**from_example, **files}
    loaded = _load(p, paths)
    try:
        sizes = infer_sizes(p, given, _shapes(p, loaded, paths), dict(example.sizes))
    except HbcError:
        if not from_example or not (given or files):
            raise
        # Sizes and files that the user names win over files that the example names.
        usual = _usual_sizes(p, example, loaded, from_example)
        loaded = {name: one for name, one in loaded.items() if name in files}
        sizes = infer_sizes(p, given, _shapes(p, loaded, paths), usual)
        names = ", ".join(f"`{name}`" for name in from_example)
        notice(f"note: the example's file does not have these sizes: {names} is random")
    check_memory(p, sizes)
    inputs = {}
    for image in p.inputs:
        fill = fills.get(image.name, RANDOM)
        if image.name in scalars:
            inputs[image.name] = scalars[image.name]
        elif image.name in loaded:
            inputs[image.name] = loaded[image.name].array
        else:
            inputs[image.name] = fill_array(
                p, RANDOM if fill.kind == "file" else fill, image, sizes
            )
    rates = [one.rate for one in loaded.values() if one.rate is not None]
    return Run(sizes, inputs, rates[0] if rates else None)


def fill_array(p: Pipeline, fill: Fill, image: Image, sizes: Mapping[str, int]) -> Array:
    """`random(seed, lo, hi)`: uniform in lo .. hi, by default 0 .. 1 for floats and the whole type
    for integers, within the input's `bound`; `ramp()`: 0, 1, 2, ... for integers (wrapping), 0 .. 1
    for floats; `constant(v)`. Integers of 4 bits are filled one by one, and packed."""
    if image.packed is not None:
        whole = unpacked(image, image.packed)
        return in_pairs(fill_array(p, within(fill, image.packed), whole, sizes))
    import numpy as np

    from hbc.ir.meaning.numpy_types import numpy_dtype

    shape, dtype = extents(image, sizes), numpy_dtype(image.element)
    flat: Array
    count = math.prod(shape)
    match fill.kind:
        case "random":
            return _random(p, fill, image, sizes, shape)
        case "ramp" if image.element.is_float:
            flat = np.arange(count, dtype=np.float64) / max(count - 1, 1)
        case "ramp":
            flat = np.arange(count, dtype=np.int64)
        case "constant":
            flat = np.full(count, fill.args[0])
        case _:
            raise error(f"`{image.name}`: there is no fill `{fill.kind}`", fill.span)
    return flat.astype(dtype).reshape(shape)


def value_range(p: Pipeline, image: Image, sizes: Mapping[str, int]) -> tuple[int, int]:
    """The least and greatest value that an integer input may hold: its type and its `bound`s."""
    low, high = image.element.limits
    for bound in p.bounds:
        if bound.name == image.name:
            low = max(low, size_value(bound.lo, sizes))
            high = min(high, size_value(bound.hi, sizes) - 1)
    return low, high


def check_memory(p: Pipeline, sizes: Mapping[str, int]) -> None:
    """HbcError when the arrays alone would not fit into this machine's memory."""
    arrays = (*p.inputs, *p.outputs)
    needed = sum(math.prod(extents(a, sizes)) * a.element.bytes for a in arrays)
    there = physical_memory()
    if there is not None and needed > there:
        at = ", ".join(f"{name} = {value}" for name, value in sizes.items())
        raise HbcError(
            Diagnostic(
                f"the arrays need {needed / 2**30:.1f} GiB at {at}, this machine has "
                f"{there / 2**30:.1f} GiB",
                hint="choose smaller sizes with --set",
            )
        )


def physical_memory() -> int | None:
    """Bytes of memory, None where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _load(p: Pipeline, paths: Mapping[str, Path]) -> dict[str, Loaded]:
    return {
        image.name: read_array(paths[image.name], image)
        for image in p.inputs
        if image.name in paths
    }


def _shapes(
    p: Pipeline, loaded: Mapping[str, Loaded], paths: Mapping[str, Path]
) -> tuple[Shape, ...]:
    return tuple(
        Shape(image, loaded[image.name].array.shape, f"`{image.name}` from {paths[image.name]}")
        for image in p.inputs
        if image.name in loaded
    )


def _usual_sizes(
    p: Pipeline, example: Example, loaded: Mapping[str, Loaded], paths: Mapping[str, Path]
) -> dict[str, int]:
    """The sizes of the example with its files, as far as it has them."""
    try:
        shapes = _shapes(p, {name: loaded[name] for name in paths}, paths)
        return infer_sizes(p, {}, shapes, dict(example.sizes))
    except HbcError:
        return dict(example.sizes)


def _file_of(p: Pipeline, fill: Fill | None) -> Path | None:
    if fill is None or fill.kind != "file":
        return None
    # An absolute path stays what it is.
    return Path(p.source.name).parent / str(fill.args[0])


def _random(
    p: Pipeline, fill: Fill, image: Image, sizes: Mapping[str, int], shape: tuple[int, ...]
) -> Array:
    import numpy as np

    from hbc.ir.meaning.numpy_types import numpy_dtype

    dtype = numpy_dtype(image.element)
    seed, *limits = fill.args
    source = np.random.default_rng(int(seed))
    if image.element.is_float:
        low, high = map(float, limits) if limits else (0.0, 1.0)
        return source.uniform(low, high, shape).astype(dtype)
    low_int, high_int = value_range(p, image, sizes)
    if limits:
        low_int, high_int = max(low_int, int(limits[0])), min(high_int, int(limits[1]))
    if high_int < low_int and 0 not in shape:
        if limits and fill.span is not None:
            said = f"`{image.name}` holds no value that `{fill.span.text}` could give"
            raise error(said, fill.span, "its type and its `bound` say what it holds")
        raise error(f"`{image.name}`: no value lies in its bound", image.span)
    wide = np.int64 if high_int <= np.iinfo(np.int64).max else np.uint64
    return source.integers(low_int, max(high_int, low_int), shape, wide, True).astype(dtype)
