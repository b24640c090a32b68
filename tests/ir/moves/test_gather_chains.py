"""Gathers as an algebra: composition, inverse, equality with layout changes; chains of a solution."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sketch_solver import sample, solve_text

from hbc.ir.moves.gather import UNDEFINED, ZERO, Gather, compose, execute, identity, inverse, same
from hbc.ir.moves.layout_change import CHANGES, LayoutChange, is_change, transposed_as
from hbc.ir.moves.movement import as_gather, evaluate, resolved
from hbc.synth.results.code import movement

SIZES = st.integers(1, 24)


@st.composite
def gathers(draw: st.DrawFn, source: int, size: int) -> Gather:
    index = draw(st.lists(st.integers(UNDEFINED, source - 1), min_size=size, max_size=size))
    return Gather(((source,),), (size,), np.array(index, dtype=np.int32))


@st.composite
def chains(draw: st.DrawFn) -> list[Gather]:
    """Gathers that follow each other."""
    sizes = draw(st.lists(SIZES, min_size=4, max_size=4))
    return [draw(gathers(a, b)) for a, b in pairwise(sizes)]


@st.composite
def permutations(draw: st.DrawFn) -> Gather:
    order = draw(st.permutations(range(draw(SIZES))))
    return Gather(((len(order),),), (len(order),), np.array(order, dtype=np.int32))


@given(chains())
@settings(max_examples=300, deadline=None)
def test_composition_is_what_execution_does(chain: list[Gather]) -> None:
    first, second, third = chain
    values = np.arange(10, 10 + first.inputs[0][0], dtype=np.int32)
    stepwise = values
    for gather in chain:
        stepwise = execute(gather, [stepwise], ZERO, UNDEFINED)
    whole = compose(third, compose(second, first))
    assert (execute(whole, [values], ZERO, UNDEFINED) == stepwise).all()
    assert same(whole, compose(compose(third, second), first))


@given(permutations())
@settings(max_examples=300, deadline=None)
def test_inverse_of_permutations(gather: Gather) -> None:
    back = inverse(gather)
    assert back is not None
    shape = gather.inputs[0]
    assert same(compose(back, gather), identity(shape))
    assert same(compose(gather, back), identity(shape))
    again = inverse(back)
    assert again is not None and same(again, gather)


@given(st.data())
@settings(max_examples=200, deadline=None)
def test_inverse_exists_where_nothing_is_lost(data: st.DataObject) -> None:
    source, size = data.draw(SIZES), data.draw(SIZES)
    gather = data.draw(gathers(source, size))
    back = inverse(gather)
    read = set(gather.index[gather.index >= 0].tolist())
    assert (back is not None) == (len(read) == source)
    if back is not None:
        assert same(compose(back, gather), identity((source,)))


@st.composite
def changes(draw: st.DrawFn) -> tuple[str, int, int, LayoutChange]:
    name = draw(st.sampled_from(sorted(CHANGES)))
    first, second = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    return name, first, second, CHANGES[name][1](first, second)


@given(changes())
@settings(max_examples=300, deadline=None)
def test_layout_changes_against_numpy(found: tuple[str, int, int, LayoutChange]) -> None:
    name, first, second, change = found
    x = np.arange(first * second)
    match name:
        case "transpose":
            wanted = x.reshape(first, second).T
        case "interleave" | "soa_to_aos":
            wanted = np.stack(np.split(x, first), axis=-1)
        case _:
            wanted = np.stack([x[w::first] for w in range(first)])
    assert (x[change.gather.index] == wanted.reshape(-1)).all()


@given(changes())
@settings(max_examples=300, deadline=None)
def test_changes_are_recognised(found: tuple[str, int, int, LayoutChange]) -> None:
    _, _, _, change = found
    assert is_change(change.gather, change)
    recognised = transposed_as(change.gather)
    if change.size > 1:
        assert recognised is not None
        rows, columns = recognised
        again = CHANGES["transpose"][1](rows, columns)
        assert is_change(change.gather, again)
    back = inverse(change.gather)
    assert back is not None
    if recognised is not None:
        assert is_change(back, CHANGES["transpose"][1](recognised[1], recognised[0]))


@given(st.permutations(range(12)))
@settings(max_examples=200, deadline=None)
def test_other_gathers_are_not(order: list[int]) -> None:
    gather = Gather(((12,),), (12,), np.array(order, dtype=np.int32))
    found = transposed_as(gather)
    matrices = [(r, 12 // r) for r in (1, 2, 3, 4, 6, 12)]
    equal = [
        (r, c) for r, c in matrices if (np.arange(12).reshape(r, c).T.reshape(-1) == order).all()
    ]
    assert (found is not None) == bool(equal)
    for rows, columns in matrices:
        change = CHANGES["transpose"][1](rows, columns)
        assert is_change(gather, change) == ((rows, columns) in equal)


def test_a_solution_is_a_chain_that_is_the_goal() -> None:
    outcome = sample("crc", s=3)
    made = movement(outcome, next(outcome.solutions()))
    gather = as_gather(made)
    assert gather is not None
    # c[i, j] = x[j + 3 * i]: all three permutations together move nothing.
    assert same(gather, identity((96,)))


def test_chains_keep_what_is_known() -> None:
    outcome = solve_text("""
        x: [4] = [a, 0, _, b]
        y: [4] = \\i. if i == 3 then 0 else x[(i + 1) % 4]
        z: [2] = fold(*){length=2}(y)
        goal z == [_, fold(*){b}]
    """)
    made = resolved(movement(outcome, next(outcome.solutions())))
    values = evaluate(made, {"x": np.array([5, 77, 88, 7])})
    # y = [0, _, b, 0]; the fold of a blank is blank.
    assert values["z"].tolist() == [0, 7]


@pytest.mark.parametrize("operation", ["+", "*", "min", "max", "&", "|", "^"])
def test_zero_is_the_identity_of_the_fold(operation: str) -> None:
    outcome = solve_text(f"""
        x: [2]
        y: [4] = \\i. if i % 2 == 0 then x[i / 2] else 0
        z: [2] = fold({operation}){{length=2}}(y)
        goal z == [fold({operation}){{x0}}, fold({operation}){{x1}}]
    """)
    made = movement(outcome, next(outcome.solutions()))
    assert evaluate(made, {"x": np.array([-6, 9])})["z"].tolist() == [-6, 9]
