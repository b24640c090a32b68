"""Pins simplify: the value is kept, a result simplifies to itself, no change is the same object."""

from __future__ import annotations

from random import Random

import trees
from hypothesis import given, settings

from hbc.ir.show import show
from hbc.ir.simplify import simplify


@settings(max_examples=400)
@given(trees.randoms)
def test_value_is_kept_and_the_result_is_final(r: Random) -> None:
    e = trees.any_expr(r)
    simple = simplify(e)
    assert simple.type == e.type
    assert simplify(simple) is simple, f"{show(e)}\n{show(simple)}\n{show(simplify(simple))}"
    for _ in range(3):
        env = trees.values(r, e)
        before, after = trees.value_of(e, env), trees.value_of(simple, env)
        assert trees.agree(before, after, signs=not trees.picks_zero(e)), (
            f"{show(e)}\n{show(simple)}\n{env}\n{before}\n{after}"
        )
