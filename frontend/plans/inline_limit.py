"""Refuses formulas that inlining would make too long or too deep, and more Funcs than compile.

A chain of Funcs that each read the one before twice doubles with every link: thirty make a formula
of a billion operations.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping

from hbc.frontend.plans.legal import stage_expressions
from hbc.frontend.plans.plan import Inline, Plan
from hbc.frontend.program.funcs import Func
from hbc.frontend.text.giants import LONGEST
from hbc.ir.ground.diag import error
from hbc.ir.ground.record import record
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.walk import children, nodes_of

# A formula of so many nodes compiles in some ten seconds. Long sums are reductions.
DEEPEST = 400
MOST_COMPUTED = 256  # Funcs with loops of their own: gcc takes ten seconds for so many


@record
class Formula:
    """What a formula is once its Funcs are inlined: how many nodes, how deep they nest, and how
    often each variable stands in it."""

    length: int
    depth: int
    uses: Counter[str]


@record
class Inlined:
    """A Func that is inlined: its variables and its formula."""

    variables: tuple[str, ...]
    formula: Formula


def refuse_giants(plan: Plan) -> None:
    """Raises HbcError naming the Func that is too large and the one to compute apart."""
    inlined: dict[str, Inlined] = {}
    for name, f in plan.items():
        for update in (None, *range(len(f.func.updates))):
            for e in stage_expressions(f.func, update):
                formula = measure(e, inlined)
                if _is_giant(formula, LONGEST):
                    _refuse(f.func, formula, inlined)
        if isinstance(f.compute, Inline):
            inlined[name] = Inlined(f.func.variables, measure(f.func.pure, inlined))


def kept_apart(
    funcs: Iterable[Func], outputs: Collection[str], longest: int = LONGEST
) -> frozenset[str]:
    """Funcs to compute apart so that no formula is longer or deeper than that: of each that would be, the
    largest of those it reads. Callees come first in `funcs`."""
    inlined: dict[str, Inlined] = {}
    apart: set[str] = set()
    for func in funcs:
        updates = (None, *range(len(func.updates)))
        expressions = [e for u in updates for e in stage_expressions(func, u)]
        read = {n.name for e in expressions for n in nodes_of(e, ir.Access)}
        while any(_is_giant(measure(e, inlined), longest) for e in expressions):
            left = [name for name in sorted(read) if name in inlined]
            if not left:
                break
            largest = max(left, key=lambda name: inlined[name].formula.length)
            del inlined[largest]
            apart.add(largest)
        if not func.updates and func.name not in outputs and func.table_shape is None:
            inlined[func.name] = Inlined(func.variables, measure(func.pure, inlined))
    return frozenset(apart)


def _is_giant(formula: Formula, longest: int) -> bool:
    return formula.length > longest or formula.depth > DEEPEST


def refuse_crowds(plan: Plan) -> None:
    """Raises HbcError naming the first Func with loops of its own that is one too many."""
    computed = [f.func for f in plan.values() if not isinstance(f.compute, Inline)]
    if len(computed) > MOST_COMPUTED:
        raise error(
            f"{len(computed)} Funcs have loops of their own, and {MOST_COMPUTED} are the most",
            computed[MOST_COMPUTED].span, "inline some, or make several kernels",
        )  # fmt: skip


def measure(e: ir.Node, inlined: Mapping[str, Inlined]) -> Formula:
    """The formula that `e` becomes. An index stands wherever the Func that it is for uses the
    variable."""
    match e:
        case ir.Var(name=name):
            return Formula(1, 1, Counter({name: 1}))
        case ir.Access(name=name, indices=indices) if name in inlined:
            func = inlined[name]
            length, depth, uses = func.formula.length, 0, Counter[str]()
            for variable, index in zip(func.variables, indices, strict=True):
                formula, times = measure(index, inlined), func.formula.uses[variable]
                length += times * (formula.length - 1)
                depth = max(depth, formula.depth if times else 0)
                uses.update({name: count * times for name, count in formula.uses.items()})
            return Formula(length, func.formula.depth + depth, uses)
        case _:
            parts = [measure(child, inlined) for child in children(e)]
            return Formula(
                1 + sum(part.length for part in parts),
                1 + max((part.depth for part in parts), default=0),
                sum((part.uses for part in parts), Counter()),
            )


def _refuse(func: Func, size: Formula, inlined: Mapping[str, Inlined]) -> None:
    too = f"{size.length:,} operations long" if size.length > LONGEST else f"{size.depth} deep"
    largest = max(inlined, key=lambda name: inlined[name].formula.length, default=None)
    raise error(
        f"the formula of `{func.name}` with its Funcs inlined would be {too}", func.span,
        "write several Funcs" if largest is None
        else f"compute some of them apart, with a schedule that says `{largest}.compute_root()`",
    )  # fmt: skip
