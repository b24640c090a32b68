"""Lowering rules: which products the instructions of a target multiply, from their descriptions.

Instructions that multiply the same types into the same type share one rule; how their extents fit is
the business of `plan`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hbc.eqsat.graph.egraph import Term
from hbc.eqsat.graph.encode import exact
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.instruction import Instruction, Overflow
from hbc.ir.lang.types import DTYPES

NOTHING = Term("Nothing", ())
"""What a sum is added to, where it is nothing."""
FUNCTIONS = frozenset(map(str, ir.MathOp))
Signature = tuple[str, str, str]
"""The element types of the accumulator and of the two factors."""


def selectable(i: Instruction) -> bool:
    """Whether `+=` of a product is what the instruction means: it has two factors and does not
    saturate."""
    return len(i.factors) == 2 and i.rounding.overflow is Overflow.WRAPS


def signature(i: Instruction) -> Signature:
    """The types of an instruction with two factors; of a factor that a function is applied to, its
    name."""
    a, b = (str(i.operands[n].function or i.operands[n].element.name) for n in i.factors)
    return i.operands[i.accumulator].element.name, a, b


def signature_text(s: Signature) -> str:
    """One word for it."""
    return "+".join(s)


def lowering_rules(instructions: Iterable[Instruction]) -> str:
    """The rules, by signature. Factors of other types than the accumulator's come through a cast.
    Sums are matched in the order accumulator, product, and products as first times second factor:
    the axioms bring the other spellings to it."""
    by_types: dict[Signature, list[str]] = {}
    for i in instructions:
        if selectable(i):
            by_types.setdefault(signature(i), []).append(i.name)
    rules = [_rule(s, names) for s, names in by_types.items()]
    return "\n".join([*rules, _WITH_ACCUMULATOR, *_conversions(by_types)])


def _conversions(wanted: Iterable[Signature]) -> Iterator[str]:
    """What may be converted so that it has the types of an instruction."""
    for total, *factors in wanted:
        t = DTYPES[total]
        for u in (DTYPES[f] for f in dict.fromkeys(factors) if f in DTYPES):
            for v in DTYPES.values():
                if t != u != v != t and u.is_int and exact(v, u) and exact(u, t):
                    yield f'(Between "{v}" "{u}" "{t}")'
        for s in DTYPES.values():
            if s != t and s.is_int and t.is_int and s.bits == t.bits:
                yield f'(Sibling "{s}" "{t}")'


_WITH_ACCUMULATOR = """\
(rule ((= e (Bin "+" c p)) (Candidate s p (Nothing) m a b))
      ((Candidate s e c m a b)) :ruleset lowering :name "accumulate")
"""


def _rule(s: Signature, names: list[str]) -> str:
    total, first, second = s
    return f"""\
; {", ".join(names)}
(rule ((= p (Reduce "+" m (Bin "*" x y))) (= "{total}" (element p))
       {_factor("x", "a", first, total)} {_factor("y", "b", second, total)})
      ((Candidate "{signature_text(s)}" p (Nothing) m a b)) :ruleset lowering :name "{signature_text(s)}")
"""


def _factor(x: str, inner: str, element: str, total: str) -> str:
    if element in FUNCTIONS:
        return f'(= {x} (Fn "{element}" {inner})) (= "{total}" (element {inner}))'
    if element == total:
        return f'(= {x} {inner}) (= "{element}" (element {inner}))'
    return f'(= {x} (Cast "{total}" {inner})) (= "{element}" (element {inner}))'
