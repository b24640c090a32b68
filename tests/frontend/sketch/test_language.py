"""What `.sf` files say: listings of the paper, sets defined in text, and every mistake in words."""

from __future__ import annotations

import pytest
from sketch_solver import read_text, solve_text

from hbc.ir.ground.diag import HbcError

TRANSPOSE = """
memory: [16] = [x0, ... x15]
input: [4, 4] = reshape(memory)
s1: [4, 4] = swizzle_row(\\i, j. j - i % 4)(input)
s2: [4, 4] = swizzle_col(\\i, j. 3i + j % 4)(s1)
s3: [4, 4] = swizzle_row(\\i, j. j + i % 4)(s2)
"""


def test_transpose_of_the_paper() -> None:
    """Listing 2, which has no hole: it is right or wrong."""
    shown = TRANSPOSE + "goal s3 == [i in 4, j in 4] memory[i + 4 * j]\n"
    wrong = TRANSPOSE + "goal s3 == [i in 4, j in 4] memory[4 * i + j]\n"
    assert {solve_text(shown).count(), solve_text(wrong).count()} == {1, 0}


def test_convolution_of_the_paper() -> None:
    """Listing 4."""
    outcome = solve_text("""
        x: [34] = [x0, ..., x33]
        loaded: [32, 2] = load_trunc(x)
        to_send: [32, 3] = select(\\i, j. i >= j)(loaded)
        received: [32, 3] = swizzle_col(\\i, j. i + j % 3)(to_send)
        out: [32] = fold(+) received
        goal out == [i in 32] fold(+) [j in 3] x[i + j]
    """)
    assert outcome.count() == 1


def test_sets_in_text() -> None:
    """Binders that depend on each other, conditions, unions, tables and single gathers."""
    outcome = solve_text("""
        x: [4]
        set turns{most}(a: [n]) = \\i. a[(i * f + c) % n] for f in {1, 3}, c in f .. most where c != 2
            | table [[3, 2, 1, 0], [zero, _, 0, 1]]
        gather swapped(a: [n]) -> [n] = \\i. a[n - 1 - i]
        y: [4] = ?turns{most=4}(x)
        z: [4] = swapped(y)
        goal z == [x0, x1, x2, x3]
    """)
    (solution,) = outcome.solutions()
    (hole,) = outcome.problem.holes
    assert outcome.gathers(hole).formula(solution.choice[0][1]).startswith("a[(i * f + c) % n]")


def test_instructions_of_ones_own() -> None:
    """Of all permutations of four elements those that exchanging neighbours makes."""
    outcome = solve_text("""
        set exchange(u: [n]) -> [n] =
            \\i. u[i / 2 * 2 + j] for each j in 2 as "exchange({u}, {vector j})" cost 2
        set any(a: [n]) = \\i. a[(p * i + q) % n] for p in n, q in n
        x: [4]
        y: [4] = ?instructions{of=any}(x)
        goal y == [i in 4] _
    """)
    (hole,) = outcome.problem.holes
    kept = {tuple(outcome.gathers(hole).gather(n).index.tolist()) for n in range(outcome.count())}
    # p * i + q with each element from its own pair: as it is, and all pairs exchanged.
    assert kept == {(0, 1, 2, 3), (1, 0, 3, 2)}


def test_a_parameter_set_before_an_import() -> None:
    text = """
        param bits = {}
        import "avx2_moves.sf"
        x: [4]
        y: [4] = ?instructions{{of=shuffled}}(x)
        set shuffled(a: [n]) = \\i. a[3 - i]
        goal y == [x3, x2, x1, x0]
    """
    assert solve_text(text.format(32)).problem.sketch.constants["block"] == 4
    with pytest.raises(HbcError, match="`bits` is 5, and may be one of 8, 16, 32, 64"):
        solve_text(text.format(5))


def test_several_goals_and_places_that_do_not_matter() -> None:
    outcome = solve_text("""
        x: [3]
        set any(a: [n]) = \\i. a[(p * i + q) % n] for p in n, q in n
        y: [3] = ?any(x)
        z: [3] = ?any(y)
        goal y == [x2, _, _]
        goal z == [_, x1, _]
    """)
    assert outcome.count() == 6


def test_blocks_share_what_is_outside() -> None:
    outcome = solve_text("""
        x: [2]
        set pick(a: [n]) = \\i. a[(i + c) % n] for c in n
        turned: [2] = ?pick(x)
        left: [2] = { once: [2] = ?pick(turned); twice: [2] = ?pick(once); twice }
        right: [2] = { once: [2] = ?pick(turned); once }
        goal left == [x0, x1]
        goal right == [x1, x0]
    """)
    assert outcome.count() == 4


def test_operations_of_folds_count_where_all_are_given() -> None:
    text = "x: [1, 2] = [[a, b]]\nout: [1] = fold({}) x\ngoal out == [fold({}) [a, b]]\n"
    assert solve_text(text.format("+", "+")).count() == 1
    assert solve_text(text.format("+", "max")).count() == 0
    assert solve_text(text.format("+", "max").replace("fold(max)", "fold")).count() == 1


MISTAKES = {
    "x: [4]\ngoal y == [x0]": "there is no array `y`",
    "x: [4]\ny: [4] = ?rotz{main=0}(x)\ngoal y == [x0, x1, x2, x3]": "did you mean `rots`?",
    "x: [4]\ny: [4] = ?rots{mian=0}(x)\ngoal y == [x0, x1, x2, x3]": "did you mean `main`?",
    "x: [4]\ny: [4] = ?rots(x)\ngoal y == [x0, x1, x2, x3]": "needs the option `main`",
    "x: [4]\ny: [4] = rots{main=0}(x)\ngoal y == [x0, x1, x2, x3]": "write `?rots`",
    "x: [4]\ny: [4] = ?rots{main=3}(x)\ngoal y == [x0, x1, x2, x3]": "of [4] it is one of 0",
    "x: [4]\ny: [3] = reshape(x)\ngoal y == [x0, x1, x2]": "has 4 elements, [3] 3",
    "x: [4]\ny: [2, 2] = reshape(x)\ngoal y == [x0, x1, x2, x3]": "the goal has the shape [4]",
    "x: [4]\ny: [4] = reshape(x)": "has no goal",
    "x: [4]\ny: [4] = reshape(x)\ngoal y == [x0, x1, x2, q7]": "no array of the sketch holds `q7`",
    "x: [4]\ngoal x == [x0, x1, x2, x3]\ngoal x == [x0, x1, x3, x3]": "contradict each other",
    "x: [4]\nx: [2]\ngoal x == [x0, x1]": "`x` is defined twice",
    "x: [2] = y\ny: [2] = x\ngoal y == [x0, x1]": "`y` is used before it is defined",
    "set a = b\nset b = a\nx: [2]\ny: [2] = ?a(x)\ngoal y == [x0, x1]": "leads back to itself",
    "x: [4]\nset none(a: [n]) = \\i. a[i] for c in 1 .. 1\ny: [4] = ?none(x)\n"
    "goal y == [x0, x1, x2, x3]": "nothing to choose from",
    "x: [4]\nset far(a: [n]) = \\i. a[i + c] for c in 2\ny: [4] = ?far(x)\n"
    "goal y == [x0, x1, x2, x3]": "reads outside of its argument at i = 3, c = 1",
    "x: [400]\nset huge(a: [n]) = \\i. a[(p * i + q) % n] for p in n, q in n, r in 9\n"
    "y: [400] = ?huge(x)\ngoal y == x": "2,304 MB",
    "x: [9000]\ny: [9000] = ?rots{main=0, level=1}(x)\ngoal y == x": "its tables take",
    "x: [4]\ny: [4] = \\i. a[i]\ngoal y == [x0, x1, x2, x3]": "there is no array `a`",
    "x: [4, 2]\ny: [4] = fold{length=3}(x)\ngoal y == [i in 4] x[i, 0]": "no multiple of 3",
    "x: [4] = [a, b]\ngoal x == [a, b]": "is declared as [4]",
    "x: [2] = [a, b]\ny: [1] = (x\ngoal y == [a]": "expected `)`",
    "goal == 3": "found `==`",
    "x: [0]\ngoal x == x": "must be at least 1",
    "x: [4]\nset free(a: [n]) = \\i. a[j] for each j in n\ny: [4] = ?free(x)\n"
    "goal y == [x0, x1, x2, x3]": "every element chooses by itself here",
    "x: [4]\nset one(a: [n]) = \\i. a[i]\ny: [4] = ?instructions{of=one}(x)\n"
    "goal y == [x0, x1, x2, x3]": "no instructions are described here",
    "x: [4]\nset one(a: [n]) = \\i. a[i]\n"
    'set far(a: [n, m]) -> [n, m] = \\i, j. a[i, j] as "f({u})"\n'
    "y: [4] = ?instructions{of=one}(x)\n"
    "goal y == [x0, x1, x2, x3]": "`far` makes one register of one to four",
    "x: [4]\nset one(a: [n]) = \\i. a[i]\n"
    'set far(a: [n]) -> [n] = \\i. a[j] for each(3) j in n as "f({u}, {vector j})"\n'
    "y: [4] = ?instructions{of=one}(x)\ngoal y == [x0, x1, x2, x3]": "4 elements are no multiple of 3",
    "x: [2, 4]\nset one(a: [n]) = \\i. a[i]\nset two(a: [n, m]) -> [2] = \\i. a[i, 0]\n"
    'set far(a: [n]) -> [n] = \\i. a[j] for each j in n as "f({u}, {vector j})"\n'
    "y: [2] = ?instructions{of=two}(x)\ngoal y == [x0_0, x1_0]": "have other lanes",
    "param s = 2\nx: [s]\ngoal x == [i in 3] x[i]": "`x[2]` is outside `x`",
    "param s = 3 in {1, 2}\nx: [s]\ngoal x == x": "may be one of 1, 2",
}


@pytest.mark.parametrize(("text", "said"), MISTAKES.items(), ids=MISTAKES.values())
def test_mistakes_are_said(text: str, said: str) -> None:
    with pytest.raises(HbcError) as raised:
        solve_text(text)
    message = str(raised.value)
    assert said in message
    # All but what concerns the file as a whole point at a place.
    assert "test.sf:" in message
    assert raised.value.exit_code in (1, 2)


def test_parameters() -> None:
    sketch = read_text('import "prelude.sf"\nparam s = 2\nx: [s * 2]\ngoal x == x\n')
    assert sketch.constants["level"] == 3
    assert sketch.constants["s"] == 2


def test_goals_may_read_what_is_only_reshaped() -> None:
    """A reshape, and one of that, of a literal: the same elements in another shape."""
    text = """
        x: [2, 6]
        flat: [12] = reshape(x)
        rows: [3, 4] = reshape(flat)
        y: [12] = ?rots{main=0}(flat)
        goal y == [i in 12] rows[(i + 1) % 12 / 4, (i + 1) % 4]
    """
    sketch = read_text(text)
    assert [sketch.terms[int(cell)].name for cell in sketch.goals[0].cells[4:6]] == ["x0_5", "x1_0"]
    assert solve_text(text).count() == 1
