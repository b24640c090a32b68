"""Elements, or short words of them, that lie evenly apart in memory: one call puts them in a register.

_mm512_setr_ps(K[i], K[i + S], K[i + S * 2], ..)   ->   apart_f32x16(&K[i], S)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

from hbc.codegen.text.scalar import scalar
from hbc.codegen.text.spelling import c_type
from hbc.codegen.text.unit import Unit
from hbc.codegen.text.writer import INDENT, wrap
from hbc.codegen.vector.load import address
from hbc.codegen.x86.functions import register_mask
from hbc.codegen.x86.types import setr, vector_type
from hbc.ir.algebra.form import Linear, minus, to_expr
from hbc.ir.algebra.linear import linear
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.types import DType

FEWEST = 4
"""Places that a call says more shortly."""


def step_of(places: Sequence[ir.Expr]) -> ir.Expr | None:
    """How far from one place to the next, where that is always the same."""
    forms: list[Linear] = [linear(p) for p in places]
    if len(forms) < FEWEST:
        return None
    step = minus(forms[1], forms[0])
    if any(minus(b, a) != step for a, b in pairwise(forms)):
        return None
    return to_expr(step)


def elements_apart(
    buffer: str, places: Sequence[ir.Expr], t: DType, lane: Callable[[str], str], unit: Unit
) -> str | None:
    """A vector of the elements; `lane`: an element as `setr` takes it."""
    step = step_of(places)
    if step is None:
        return None
    name, v = f"apart_{t}x{len(places)}", vector_type(t, len(places))
    values = [lane(f"p[{_times(n)}]") for n in range(len(places))]
    text = _function(v, name, t, "", setr(t, len(places), values))
    return _call(unit.prelude.add(name, text), buffer, places, step, unit)


def words_apart(
    buffer: str, places: Sequence[ir.Expr], t: DType, size: DType, word: str, unit: Unit
) -> str | None:
    """A register of words, each of which the function `word` loads as an integer of a size."""
    step = step_of(places)
    if step is None:
        return None
    count, width = len(places), size.bits // t.bits
    name, v = f"apart_{t}x{width}x{count}", vector_type(size, count)
    values = [f"{word}({_further(n)})" for n in range(count)]
    text = _function(v, name, t, "", setr(size, count, values))
    return _call(unit.prelude.add(name, text), buffer, places, step, unit)


def masked_words_apart(
    buffer: str, places: Sequence[ir.Expr], t: DType, size: DType, live: ir.Expr, unit: Unit
) -> str | None:
    """The same under one mask for every word, of AVX-512."""
    step = step_of(places)
    if step is None or unit.target.vector_bits != 512:
        return None
    count, width = len(places), size.bits // t.bits
    name, v = f"apart_{t}x{width}x{count}_masked", vector_type(size, count)
    values = [
        f"_mm_cvtsi128_si{size.bits}(_mm_maskz_loadu_epi{t.bits}(live, {_further(n)}))"
        for n in range(count)
    ]
    kind = f", __mmask{max(8, 128 // t.bits)} live"
    text = _function(v, name, t, kind, setr(size, count, values))
    condition = register_mask(live, t, unit)
    return _call(unit.prelude.add(name, text), buffer, places, step, unit, f", {condition}")


def _call(
    function: str, buffer: str, places: Sequence[ir.Expr], step: ir.Expr, unit: Unit, more: str = ""
) -> str:
    return f"{function}({address(buffer, places[0], unit)}, {scalar(step, unit)}{more})"


def _times(n: int) -> str:
    return ("0", "s")[n] if n < 2 else f"{n} * s"


def _further(n: int) -> str:
    return "p" if n == 0 else f"p + {_times(n)}"


def _function(v: str, name: str, t: DType, more: str, value: str) -> str:
    head = f"static inline {v} {name}(const {c_type(t)} *p, int64_t s{more})"
    body = wrap(f"{INDENT}return {value};", INDENT * 2)
    return "\n".join([head, "{", *body, "}", ""])
