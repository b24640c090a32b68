"""What `hbc verify` tries: odd sizes, and inputs that are never zeros or ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import lcm
from random import Random
from typing import TYPE_CHECKING

from hbc.cli.files.inputs import fill_array, value_range
from hbc.cli.files.sizes import check_sizes, extents, size_value
from hbc.cli.runs.strides import row_strides
from hbc.cli.runs.work import count_work
from hbc.frontend.program.funcs import Example, Fill, Image, Pipeline
from hbc.ir.algebra.simplify import simplify
from hbc.ir.ground.diag import HbcError
from hbc.ir.lang import build
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Check
from hbc.ir.lang.walk import free_variables

if TYPE_CHECKING:
    import numpy as np

    from hbc.cli.files.loaded import Array

Kind = str
KINDS: tuple[Kind, ...] = ("full-range", "special", "example-like")

# One, a few less than a vector, primes around vectors and tiles, and the widths themselves.
SMALL = (1, 2, 3, 5, 7, 8, 11, 13, 16, 17, 19, 23)
MEDIUM = (1, 3, 7, 13, 16, 17, 31, 33, 37, 61, 67, 97, 101, 128, 131)
FAR_TOO_MUCH = 50  # times the work that is asked for
DRAWS = 400  # size sets looked at for one trial
EXPONENTS = (-8, 8)  # full-range floats are +-(1..2) * 2^e: wide, and far from overflow in f16
EXPONENTS_OF_8_BITS = (-8, 4)  # the same of f8e4m3, whose subnormals begin below 2^-6
SPECIAL_SHARE = 0.05  # of the elements of special inputs


@dataclass(frozen=True, slots=True)
class Trial:
    """Sizes, inputs and where the inputs come from."""

    sizes: Mapping[str, int]
    kind: Kind
    inputs: Mapping[str, Array]

    def __str__(self) -> str:
        at = ", ".join(f"{name} = {value}" for name, value in self.sizes.items())
        return f"{at or 'no sizes'} with {self.kind} inputs"


@dataclass(frozen=True, slots=True)
class Special:
    """Which special floats a kernel treats as the algorithm does. Instructions may take subnormals
    for zeros, and `Kernel.assumes_finite`."""

    subnormals: bool = True
    non_finite: bool = True


def draw_trials(
    p: Pipeline, checks: tuple[Check, ...], given: Mapping[str, int], example: Example,
    pool: tuple[int, ...], most_work: int, count: int, seed: int, special: Special = Special(),
) -> Iterator[Trial]:  # fmt: skip
    """`count` trials at odd sizes that the kernel accepts and that take at most `most_work`
    operations where there are such; `given` sizes (--set) stay. Fewer when no sizes will do. The
    same seed gives the same trials. `special`: what special inputs may hold."""
    random = Random(seed)
    for number in range(count):
        with_empty = number % 6 == 5
        sizes = draw_sizes(p, checks, given, (0, *pool) if with_empty else pool, most_work, random)
        if sizes is None:
            return
        kind = KINDS[number % len(KINDS)]
        bits = random.getrandbits(32)
        yield Trial(sizes, kind, draw_inputs(p, sizes, kind, example, bits, special))


def draw_sizes(
    p: Pipeline, checks: tuple[Check, ...], given: Mapping[str, int], pool: tuple[int, ...],
    most_work: int, random: Random,
) -> dict[str, int] | None:  # fmt: skip
    """Sizes from the pool that every `require` and the kernel's own checks accept: the first that
    take at most `most_work`, else those that take the least of all drawn. None when there are none
    or all take far too much."""
    least, smallest = None, most_work * FAR_TOO_MUCH
    seen: set[tuple[int, ...]] = set()  # the same are drawn again where few sizes are free
    plain = _plain_strides(p)
    pools = {
        size.name: _multiples((*pool, *_ends(p, size.name)), _divisor(checks, size.name, plain))
        for size in p.sizes
    }
    for _ in range(DRAWS):
        drawn = {size.name: random.choice(pools[size.name]) for size in p.sizes}
        sizes = {size.name: given.get(size.name, drawn[size.name]) for size in p.sizes}
        sizes |= {size.name: size.fixed for size in p.sizes if size.fixed is not None}
        chosen = tuple(sizes.values())
        if chosen in seen or not accepted(p, checks, sizes):
            continue
        seen.add(chosen)
        work = count_work(p, sizes).total
        if work <= most_work:
            return sizes
        if work < smallest:
            least, smallest = sizes, work
    return least


def _ends(p: Pipeline, size: str) -> tuple[int, ...]:
    """The least and greatest value of a scalar that serves as a size, where these are numbers."""
    ends = [(b.lo, build.sub(b.hi, 1)) for b in p.bounds if b.name == size]
    found = [simplify(e) for pair in ends for e in pair]
    return tuple(int(e.value) for e in found if isinstance(e, ir.Const))


def _plain_strides(p: Pipeline) -> dict[str, str]:
    """The strides of dense arrays that are one of the sizes, by name."""
    return {
        f"{image.name}_stride{len(image.extents) - 2}": image.extents[-1].name
        for image in (*p.inputs, *p.outputs)
        if len(image.extents) > 1 and isinstance(image.extents[-1], ir.Var)
    }


def _divisor(checks: tuple[Check, ...], size: str, plain: Mapping[str, str]) -> int:
    """What must divide the size, as far as checks say so plainly (`M % 16 == 0`), of it or of a stride
    that is this size."""
    divisor = 1
    for check in checks:
        match check.condition:
            case ir.Binary(
                ir.Op.EQ,
                ir.Binary(ir.Op.MOD, ir.Var(name=name), ir.Const(value=n)),
                ir.Const(value=0),
            ) if plain.get(name, name) == size and int(n) > 0:
                divisor = lcm(divisor, int(n))
            case _:
                pass
    return divisor


def _multiples(pool: tuple[int, ...], divisor: int) -> tuple[int, ...]:
    """Those of the pool and, if they are few, the smallest there are."""
    multiples = tuple(n for n in pool if n % divisor == 0)
    return multiples if divisor == 1 else (*multiples, divisor, 2 * divisor, 3 * divisor)


def accepted(p: Pipeline, checks: tuple[Check, ...], sizes: Mapping[str, int]) -> bool:
    """Whether the algorithm and the kernel (its promises of `exact` tails) allow the sizes."""
    try:
        check_sizes(p, sizes)
    except HbcError:
        return False
    known = {**sizes, **_dense_strides(p, sizes)}
    about_sizes = (c for c in checks if free_variables(c.condition) <= known.keys())
    if any(not size_value(check.condition, known) for check in about_sizes):
        return False
    # A bound that leaves an input no value.
    return all(_has_values(p, image, sizes) for image in p.inputs if not image.element.is_float)


def draw_inputs(
    p: Pipeline, sizes: Mapping[str, int], kind: Kind, example: Example, seed: int,
    special: Special = Special(),
) -> dict[str, Array]:  # fmt: skip
    """Inputs of one kind. `special` ones hold NaN, infinities, -0 and subnormals among others, as far
    as `special` allows."""
    import numpy as np

    fills = dict(example.fills)
    inputs = {}
    for number, image in enumerate(p.inputs):
        source = np.random.default_rng([seed, number])
        fill = fills.get(image.name)
        if kind == "example-like" or not image.element.is_float:
            known = fill if fill is not None and fill.kind == "random" else Fill("random", (0,))
            limits = known.args[1:] if kind == "example-like" else ()
            again = Fill("random", (int(source.integers(1 << 30)), *limits))
            inputs[image.name] = fill_array(p, again, image, sizes)
        else:
            values = _wide(image, sizes, source)
            if kind == "special":
                _sprinkle(values, image, source, special)
            inputs[image.name] = _as_element(values, image)
    return inputs


def _wide(image: Image, sizes: Mapping[str, int], source: np.random.Generator) -> Array:
    shape = extents(image, sizes)
    exponents = EXPONENTS_OF_8_BITS if image.element.bits == 8 else EXPONENTS
    magnitude = source.uniform(1, 2, shape) * 2.0 ** source.integers(*exponents, shape)
    values: Array = magnitude * source.choice([-1.0, 1.0], shape)
    return values


def _sprinkle(values: Array, image: Image, source: np.random.Generator, allowed: Special) -> None:
    import numpy as np

    from hbc.ir.meaning.float_rounding import LEAST_EXPONENT

    smallest = 2.0 ** LEAST_EXPONENT[image.element.name]
    if allowed.subnormals:
        smallest *= 2.0 ** (1 - image.element.precision)
    special = np.array([-0.0, smallest, *([np.nan, np.inf, -np.inf] * allowed.non_finite)])
    flat = values.reshape(-1)
    count = min(flat.size, max(2, int(flat.size * SPECIAL_SHARE)))
    if flat.size == 0:
        return
    places = source.choice(flat.size, count, replace=False)
    flat[places] = source.choice(special, count)


def _as_element(values: Array, image: Image) -> Array:
    import numpy as np

    from hbc.ir.meaning.numpy_types import numpy_dtype

    with np.errstate(all="ignore"):
        return values.astype(numpy_dtype(image.element))


def _dense_strides(p: Pipeline, sizes: Mapping[str, int]) -> dict[str, int]:
    """The strides of dense arrays, by the names that a kernel's checks use."""
    return {
        f"{image.name}_stride{dim}": stride
        for image in (*p.inputs, *p.outputs)
        for dim, stride in enumerate(row_strides(extents(image, sizes)))
    }


def _has_values(p: Pipeline, image: Image, sizes: Mapping[str, int]) -> bool:
    low, high = value_range(p, image, sizes)
    return low <= high or 0 in extents(image, sizes)
