"""The sizes of one run: from --set, from the shapes of the arrays, else from the example."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hbc.frontend.program.constants import index_value
from hbc.frontend.program.funcs import Image, Pipeline
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError, Note, UsageError, error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import free_variables, nodes


@record
class Shape:
    """The shape of the array for `image`, and how to name its origin (`A` from x.npy)."""

    image: Image
    shape: tuple[int, ...]
    origin: str


@record
class _Equation:
    """sum(coefficient * size) = value, from one extent of one array."""

    coefficients: tuple[tuple[str, int], ...]
    value: int
    because: str


@record
class _Solved:
    """A size's value, and why it has that value."""

    value: int
    because: str


def size_value(e: ir.Expr, sizes: Mapping[str, int]) -> int:
    """The value of an index expression or condition over these sizes alone."""
    value = index_value(e, sizes)
    if value is None:
        from hbc.ir.lang.show import show

        raise InternalError(f"not an expression over the sizes: {show(e)}")
    return value


def extents(image: Image, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of an array at the given sizes."""
    return tuple(size_value(e, sizes) for e in image.extents)


def given_sizes(p: Pipeline, settings: Mapping[str, str]) -> dict[str, int]:
    """The sizes among the `--set` values. Params have been folded into the pipeline already."""
    sizes = {}
    for size in p.sizes:
        if size.name in settings:
            text = settings[size.name]
            try:
                sizes[size.name] = int(text.replace("_", ""), 0)
            except ValueError:
                raise UsageError(
                    Diagnostic(f"`--set {size.name}={text}`: a size is an integer")
                ) from None
            if sizes[size.name] < 0:
                raise UsageError(Diagnostic(f"`--set {size.name}={text}`: a size is at least 0"))
    return sizes


def infer_sizes(
    p: Pipeline, given: Mapping[str, int], shapes: tuple[Shape, ...], example: Mapping[str, int]
) -> dict[str, int]:
    """Every size of the pipeline. `given` (--set) and the arrays must agree; what neither decides
    comes from the example. HbcError naming both places when two of them contradict."""
    solved = {name: _Solved(value, f"--set {name}={value}") for name, value in given.items()}
    for size in p.sizes:
        if size.fixed is not None and size.name not in solved:
            solved[size.name] = _Solved(size.fixed, f"`{size.name}` is fixed to {size.fixed}")
    # Those about one size first: what they say is the plainest reason.
    equations = sorted(_equations(p, shapes), key=lambda equation: len(equation.coefficients))
    _solve(equations, solved)
    for size in p.sizes:
        if size.name not in solved and size.name in example:
            value = example[size.name]
            solved[size.name] = _Solved(value, f"the example says {size.name} = {value}")
            _solve(equations, solved)
    missing = [size for size in p.sizes if size.name not in solved]
    if missing:
        raise HbcError(
            [
                Diagnostic(
                    f"nothing says how large `{size.name}` is", size.span,
                    f"write --set {size.name}=..., give an input, or an example block",
                )
                for size in missing
            ]
        )  # fmt: skip
    sizes = {size.name: solved[size.name].value for size in p.sizes}
    _check_shapes(shapes, sizes, solved)
    check_sizes(p, sizes)
    return sizes


def check_sizes(p: Pipeline, sizes: Mapping[str, int]) -> None:
    """HbcError unless the sizes are at least 0, no extent is negative and every `require` holds."""
    scalars = {s.name for s in p.scalar_sizes}  # of which their bounds tell more
    wrong = [
        Diagnostic(f"`{name}` is {value}: a size is at least 0")
        for name, value in sizes.items()
        if value < 0 and name not in scalars
    ]
    at = ", ".join(f"{name} = {value}" for name, value in sizes.items())
    for image in (*p.inputs, *p.outputs):
        shape = extents(image, sizes)
        if min(shape, default=0) < 0:
            text = ", ".join(map(str, shape))
            wrong.append(Diagnostic(f"`{image.name}` would be [{text}] at {at}", image.span))
    for requirement in p.requirements:
        if not size_value(requirement.condition, sizes):
            said = f"{requirement.message} (at {at})"
            wrong.append(Diagnostic(said, requirement.span))
    if wrong:
        raise HbcError(wrong)


def _equations(p: Pipeline, shapes: tuple[Shape, ...]) -> Iterator[_Equation]:
    """One for each extent that is a sum of sizes; those with quotients decide nothing here, they
    are compared in the end. The coefficients are found by probing."""
    zero = dict.fromkeys((size.name for size in p.sizes), 0)
    for array in shapes:
        if len(array.shape) != len(array.image.extents):
            raise error(
                f"`{array.image.name}` has {counted(len(array.image.extents), 'dimension')}, "
                f"but {array.origin} has {len(array.shape)}",
                array.image.span,
            )
        for dim, (extent, length) in enumerate(zip(array.image.extents, array.shape, strict=True)):
            if any(
                isinstance(n, ir.Binary) and n.op in (ir.Op.DIV, ir.Op.MOD) for n in nodes(extent)
            ):
                continue
            base = size_value(extent, zero)
            coefficients = tuple(
                (name, size_value(extent, zero | {name: 1}) - base)
                for name in sorted(free_variables(extent))
            )
            because = f"{array.origin} is {length} long in dimension {dim}"
            yield _Equation(coefficients, length - base, because)


def _solve(equations: list[_Equation], solved: dict[str, _Solved]) -> None:
    """Adds each size that some equation alone decides, until none does."""
    progress = True
    while progress:
        progress = False
        for equation in equations:
            open_ = [(name, c) for name, c in equation.coefficients if name not in solved and c]
            if len(open_) != 1:
                continue
            name, coefficient = open_[0]
            rest = sum(c * solved[n].value for n, c in equation.coefficients if n in solved)
            value, left = divmod(equation.value - rest, coefficient)
            if left:
                raise error(f"no whole `{name}` fits: {equation.because}")
            solved[name] = _Solved(value, equation.because)
            progress = True


def _check_shapes(
    shapes: tuple[Shape, ...], sizes: Mapping[str, int], solved: Mapping[str, _Solved]
) -> None:
    wrong = []
    for array in shapes:
        expected = extents(array.image, sizes)
        for dim, (length, want) in enumerate(zip(array.shape, expected, strict=True)):
            if length == want:
                continue
            names = sorted(free_variables(array.image.extents[dim]))
            reasons = "; ".join(solved[name].because for name in names)
            wrong.append(
                Diagnostic(
                    f"sizes contradict each other: {array.origin} is {length} long in dimension "
                    f"{dim}, but must be {want}" + (f", because {reasons}" if reasons else ""),
                    array.image.span,
                    notes=tuple(_declared(array.image, dim)),
                )
            )
    if wrong:
        raise HbcError(wrong)


def _declared(image: Image, dim: int) -> Iterator[Note]:
    span = image.extents[dim].span
    if span is not None and span != image.span:
        yield Note(f"this is dimension {dim} of `{image.name}`", span)
