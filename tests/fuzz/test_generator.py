"""The generator is wide: everything that the language has comes up; and it is honest: mistakes show."""

from __future__ import annotations

import re
from collections import Counter
from random import Random
from typing import Any

import agreement
import pytest
import register_programs
from agreement import examine
from case import Case, generate, in_registers
from choices import Recorded, shrink
from draft import Array, Draft, Env
from expressions import expression
from library import library_call
from spans import constant
from tally import FEATURES, features

from hbc.frontend.expand.imports import LIBRARY
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.nodes import Binary, Expr, Op
from hbc.ir.lang.types import BOOL, DTYPES, F32, U8, U32
from hbc.ir.lang.walk import rewrite, rewrite_stmt

SUM = """input A: i32[N]
output f: i32[N]
f[x] = A[x] + A[x]
"""


def test_everything_comes_up() -> None:
    count = 1500
    used = Counter(f for n in range(count) for f in features(generate(Recorded(random=Random(n)))))
    rare = {f: used[f] for f in FEATURES if used[f] < count / 500}
    assert not rare


def test_every_entry_of_the_library_comes_up() -> None:
    draft = Draft(Recorded(random=Random(1)), ("W",), (F32, U32, U8))
    arrays = [Array(f"A{t}{rank}{h}", t, rank, "input", helper=h) for t in DTYPES.values()
              for rank in (1, 2) for h in ("", "wrap")]  # fmt: skip
    env = Env(draft, {"x": constant(0, 3), "y": constant(0, 3)}, arrays, {})
    drawn = " ".join(
        library_call(env, t, 2, expression)
        for _ in range(300)
        for t in DTYPES.values()
        if t != BOOL
    )
    there = {n for f in LIBRARY.glob("*.hb") for n in re.findall(r"(?m)^def (\w+)", f.read_text())}
    assert there <= set(re.findall(r"\b(\w+)\(", drawn))


@pytest.mark.parametrize("target", register_programs.TYPES)
def test_sums_in_registers_use_instructions(target: str) -> None:
    found = [
        examine(in_registers(Recorded(random=Random(n)), target), native=False) for n in range(2)
    ]
    assert [(o.kind, o.selected) for o in found] == [("passed", True)] * len(found)


def test_sizes_are_small_odd_and_zero() -> None:
    found = {
        v
        for n in range(300)
        for one in generate(Recorded(random=Random(n))).sizes
        for v in one.values()
    }
    assert {0, 1, 2, 7, 13, 17, 19, 23} <= found


def test_a_wrong_pass_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    def spoiled(e: Expr) -> Expr:
        return Binary(Op.SUB, e.a, e.b) if isinstance(e, Binary) and e.op is Op.ADD else e

    def lower(p: Any, s: Any, t: Any, after: Any) -> None:
        def wrong(name: str, kernel: Kernel) -> None:
            if name == "vectorize":
                kernel = kernel.map_body(lambda b: rewrite_stmt(b, lambda e: rewrite(e, spoiled)))
            after(name, kernel)

        lowered(p, s, t, wrong)

    lowered = agreement.lower_to_kernel
    monkeypatch.setattr(agreement, "lower_to_kernel", lower)
    case = Case(f"size N\n{SUM}", ({"N": 5},), "c", False, 0)
    assert examine(case, native=False).where == "interp after vectorize: Disagreement  wrong values"


def test_a_wrong_oracle_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the evaluator of the tree, which reads the text itself."""

    def wrong(source: Source) -> Any:
        return parse(Source(source.name, source.text.replace("a + 1", "a + 2")))

    text = "size N\ninput A: i32[N]\noutput f: i32[N]\ndef d(a) = a + 1\nf[x] = d(A[x])\n"
    case = Case(text, ({"N": 5},), "c", False, 0)
    assert examine(case, native=False).kind == "passed"
    monkeypatch.setattr(agreement, "parse", wrong)
    assert examine(case, native=False).where == "the tree: Disagreement  wrong values"


def test_choices_replay() -> None:
    first = Recorded(random=Random(1))
    assert generate(first) == generate(Recorded(first.taken))


def test_shrinking_keeps_what_fails() -> None:
    small = shrink([3, 9, 4, 1, 7, 7, 2], lambda v: sum(v) >= 10)
    assert sum(small) == 10 and len(small) == 2
