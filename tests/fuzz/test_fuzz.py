"""Random programs with random schedules: oracle, interpreter after each pass and C agree.

HBC_FUZZ_SECONDS says for how long to look for new failures (`make fuzz` sets an hour). Unless it is
set, it is a fixed number of programs, the same each time, however fast the machine is.
"""

from __future__ import annotations

import os
import time

import pytest
from agreement import examine
from case import Case, generate
from choices import Drawn
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tally import Tally

SECONDS = float(os.environ.get("HBC_FUZZ_SECONDS", "0"))
FIRST = time.time_ns() % (1 << 32) if SECONDS else 0
ROUND = 10  # programs between two looks at the clock
ROUNDS = 8  # when no time is given
MOST_REFUSED = 0.15  # more, and the generator does not know the language


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """A case whose every choice is drawn, so that hypothesis can make it small."""
    return generate(Drawn(lambda low, high: draw(st.integers(low, high))))


def fuzz(number: int, tally: Tally) -> None:
    """One round of programs."""

    @seed(number)
    @settings(
        max_examples=ROUND,
        database=None,
        phases=(Phase.generate, Phase.shrink),
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=False,
    )
    @given(cases())
    def agree(case: Case) -> None:
        outcome = examine(case)
        tally.add(case, outcome)
        if outcome.kind == "failed":
            pytest.fail(f"{outcome.where}\n\n{case.text}\n{outcome.detail}", pytrace=False)

    agree()


@pytest.mark.timeout(0)
def test_oracle_interpreter_and_c_agree(capsys: pytest.CaptureFixture[str]) -> None:
    tally, start, number = Tally(), time.monotonic(), FIRST
    try:
        while number - FIRST < ROUNDS or time.monotonic() - start < SECONDS:
            fuzz(number, tally)
            number += 1
    finally:
        with capsys.disabled():
            print(f"\n{tally.summary(time.monotonic() - start)}\n{tally.coverage()}")
    total = sum(tally.outcomes.values())
    assert tally.outcomes["passed"] >= (1 - MOST_REFUSED) * total
