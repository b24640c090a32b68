"""Types reads of inputs and Funcs, and writes the boundary helpers out as index arithmetic.

Beyond the edges of an array of extent n, index i is read at

    clamp_edge   the nearest index inside: clamp(i, 0, n - 1)
    zero_edge    nowhere: the value is 0
    mirror       its reflection, the edge repeated: c b a | a b c | c b a, however far outside
                 (NumPy's `pad(mode="symmetric")`)
    wrap         i modulo n
"""

from __future__ import annotations

from collections.abc import Sequence

from hbc.frontend.checks.foreign_names import FOREIGN_FUNCTIONS
from hbc.frontend.program.funcs import Image
from hbc.frontend.program.literals import BROKEN, is_broken
from hbc.frontend.program.scope import Env
from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import EDGES
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Note
from hbc.ir.ground.source import Span
from hbc.ir.lang import build
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import PACKED, WHOLE, Type


def access(e: ast.Access, indices: list[ir.Expr], env: Env) -> ir.Expr:
    """`name[indices]` of a Func, an input or an alias; the indices are typed."""
    scope, name = env.scope, e.name.text
    if name in scope.aliases:
        alias = scope.aliases[name]
        of_alias = scope.inputs[alias.image.text]
        return edge(alias.helper.text, of_alias, indices, e, env)
    image = scope.inputs.get(name)
    if image is not None:
        rank, element, of = len(image.extents), image.element, ""
    elif name in scope.funcs:
        signature = scope.funcs[name]
        rank, element, of = signature.rank, signature.element, signature.of
    else:
        known = [*scope.funcs, *scope.inputs, *scope.aliases]
        scope.unknown("Func or input", name, e.name.span, known)
        return BROKEN
    if not rank_fits(name, rank, e.indices, e.span, env) or any(map(is_broken, indices)):
        return BROKEN
    if image is not None:
        return read(image, tuple(indices), e.span)
    part = name if of else ""
    return ir.Access(of or name, tuple(indices), Type(element), e.span, part)


def read(image: Image, indices: tuple[ir.Expr, ...], span: Span) -> ir.Expr:
    """The value of an input at typed indices; of 4 bits, as the whole byte that holds any."""
    access = ir.Access(image.name, indices, Type(image.element), span)
    if image.element not in PACKED.values():
        return access
    return ir.Cast(WHOLE[image.element](1), access, span)


# What the library has for Funcs of two dimensions, by the helper of inputs.
OF_FUNCS = {
    "clamp_edge": "clamped", "zero_edge": "zero_outside", "mirror": "reflected", "wrap": "repeated",
}  # fmt: skip


def edge_access(e: ast.EdgeAccess, indices: list[ir.Expr], env: Env) -> ir.Expr:
    """`clamp_edge(A)[indices]`."""
    image = edge_image(ast.Call(e.name, e.args, e.span), env)
    return BROKEN if image is None else edge(e.name.text, image, indices, e, env)


def edge_image(e: ast.Call, env: Env) -> Image | None:
    """The input that a boundary helper is applied to; None after reporting what is wrong."""
    scope, name = env.scope, e.name.text
    if name in FOREIGN_FUNCTIONS:
        scope.report(f"unknown boundary helper `{name}`", e.name.span, FOREIGN_FUNCTIONS[name])
        return None
    if name not in EDGES:
        scope.unknown("boundary helper", name, e.name.span, EDGES)
        return None
    if len(e.args) != 1 or not isinstance(e.args[0], ast.Name):
        scope.report(f"`{name}` takes the name of one input", e.span, f"write `{name}(A)`")
        return None
    image = e.args[0]
    if image.text in scope.inputs:
        return scope.inputs[image.text]
    if image.text in scope.funcs:
        scope.report(
            f"`{image.text}` is a Func, and `{name}` takes an input", image.span,
            f"a Func has no edges: clamp the index, `{image.text}[clamp(x, 0, N - 1)]`; of two dimensions "
            f'`import "std/image.hb"` brings `{OF_FUNCS[name]}({image.text}, H, W)[y, x]`',
        )  # fmt: skip
        return None
    scope.unknown("input", image.text, image.span, scope.inputs)
    return None


def edge(
    helper: str, image: Image, indices: list[ir.Expr], e: ast.Access | ast.EdgeAccess, env: Env
) -> ir.Expr:
    """The read of `image` with the indices brought inside."""
    if not rank_fits(image.name, len(image.extents), e.indices, e.span, env):
        return BROKEN
    if any(map(is_broken, indices)):
        return BROKEN
    pairs = list(zip(indices, image.extents, strict=True))
    inside = tuple(bring_inside(helper, i, n, e.span) for i, n in pairs)
    inner = read(image, inside, e.span)
    if helper != "zero_edge":
        return inner
    zero = ir.Const(zero_of(image), inner.type, e.span)
    conditions = [test for i, n in pairs for test in (build.ge(i, 0), build.lt(i, n))]
    return ir.Select(build.and_(*conditions), inner, zero, e.span)


def zero_of(image: Image) -> int | float | bool:
    if image.element.is_float:
        return 0.0
    return 0 if image.element.is_int else False


def bring_inside(helper: str, i: ir.Expr, n: ir.Expr, span: Span) -> ir.Expr:
    """One index, by the helper."""
    last = build.sub(n, 1)
    if helper in ("clamp_edge", "zero_edge"):
        return ir.Binary(ir.Op.MIN, ir.Binary(ir.Op.MAX, i, ir.const_index(0), span), last, span)
    if helper == "wrap":
        return ir.Binary(ir.Op.MOD, i, n, span)
    period = build.mul(n, 2)
    place = ir.Binary(ir.Op.MOD, i, period, span)
    return ir.Binary(
        ir.Op.MIN, place, ir.Binary(ir.Op.SUB, build.sub(period, 1), place, span), span
    )


def rank_fits(
    name: str, rank: int, indices: Sequence[ast.Expr], span: Span, env: Env, used: str = "read"
) -> bool:
    """Reports a wrong number of indices; `used` says what is done with them."""
    if rank == len(indices):
        return True
    declared = env.scope.declared.get(name)
    notes = [Note(f"`{name}` is declared here", declared.span)] if declared else []
    if rank == 0:
        message = f"`{name}` is one number, and is {used} with indices"
        env.scope.report(message, span, f"write `{name}`", *notes)
        return False
    env.scope.report(
        f"`{name}` has {counted(rank, 'dimension')}, and is {used} with {len(indices)}",
        span,
        None,
        *notes,
    )
    return False
