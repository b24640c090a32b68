"""Which of several schedules a kernel takes at which sizes."""

from __future__ import annotations

import pytest

from hbc.cli.pipeline import choose_schedule
from hbc.frontend.checks.check import check
from hbc.frontend.program.by_size import apart, taken, where_text
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

ADD = """
size M, N
param R: i32 = 3
input A: f32[M, N]
output B: f32[M, N]
B[i, j] = A[i, j] + 1
"""


def checked(schedules: str, fix: bool = False, **settings: str) -> Pipeline:
    return check(parse(Source("k.hb", ADD + schedules)), settings, fix)


def name_at(p: Pipeline, target: str, m: int, n: int) -> str:
    schedule = choose_schedule(p, target, None)
    assert schedule is not None
    return taken(schedule, {"M": m, "N": n}).name


SEVERAL = """
schedule any for c { B.unroll(j, 2) }
schedule wide for avx2 where N >= 8 and (M % 2 == 0 or M > 9) { B.vectorize(j, 8) }
schedule even for c where N % (2 * R) == 0 { B.unroll(j, 6) }
schedule small for c where N < 12 { B.unroll(i, 2) }
"""


@pytest.mark.parametrize(
    ("target", "m", "n", "name"),
    [
        ("c", 1, 6, "even"), ("c", 1, 12, "even"), ("c", 1, 11, "small"), ("c", 1, 13, "any"),
        ("c", 2, 16, "any"), ("avx2", 2, 16, "wide"), ("avx2", 11, 8, "wide"), ("avx2", 3, 8, "small"),
        ("avx2", 3, 18, "even"), ("avx2", 3, 13, "any"), ("avx512", 2, 12, "wide"),
    ],
)  # fmt: skip
def test_the_first_whose_condition_holds_is_taken(target: str, m: int, n: int, name: str) -> None:
    """One without a condition last, wherever it stands; those for the target before those for a lesser."""
    assert name_at(checked(SEVERAL), target, m, n) == name


def test_sizes_that_are_known_leave_one() -> None:
    for n, name in ((18, "even"), (11, "small"), (13, "any")):
        one = choose_schedule(checked(SEVERAL, True, N=str(n)), "c", None)
        assert one is not None
        assert one.name == name
        assert not one.choices


def test_parameters_count_as_numbers() -> None:
    text = "schedule a for c where R > 4 { B.unroll(j, 2) }\nschedule b for c { B.unroll(j, 3) }"
    for r, name in ((3, "b"), (5, "a")):
        one = choose_schedule(checked(text, R=str(r)), "c", None)
        assert one is not None
        assert one.name == name
        assert not one.choices


def test_plain_loops_are_last_where_all_have_conditions() -> None:
    p = checked("schedule even for c where N % 2 == 0 { B.unroll(j, 2) }")
    assert [name_at(p, "c", 1, n) for n in (2, 3)] == ["even", "none"]


def test_a_name_takes_one_alone() -> None:
    one = choose_schedule(checked(SEVERAL), "c", "small")
    assert one is not None
    assert (one.name, one.choices, where_text(one)) == ("small", (), "N < 12")


def test_no_two_are_taken_at_once() -> None:
    """Each by itself stands under its own condition and the contrary of those before it."""
    from hbc.frontend.program.constants import index_value

    schedule = choose_schedule(checked(SEVERAL), "avx2", None)
    assert schedule is not None
    for m in range(1, 12):
        for n in range(1, 20):
            sizes = {"M": m, "N": n}
            held = [
                s.name
                for s in apart(schedule)
                if s.condition is None or index_value(s.condition, sizes)
            ]
            assert held == [taken(schedule, sizes).name]
