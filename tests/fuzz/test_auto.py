"""Random programs by the schedules that hbc makes for them: oracle, interpreter and C agree.

The same programs each time; `fuzz.py --auto` looks for new failures."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from agreement import examine
from case import generate, read_case
from choices import Recorded

PROGRAMS = 24  # of which a third run natively too
CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.hb"))[::4]


@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(9000, 9000 + PROGRAMS))
def test_automatic_schedules_agree_with_the_oracle(seed: int) -> None:
    """A candidate that is refused is replaced by the next: that is no error either."""
    case = generate(Recorded(random=Random(seed)))
    outcome = examine(case, native=seed % 3 == 0, auto=True)
    assert outcome.kind in ("passed", "unfit", "slow", "invalid"), (
        f"{outcome.where}\n{outcome.detail}"
    )


@pytest.mark.timeout(600)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.stem)
def test_programs_that_once_failed(path: Path) -> None:
    """With other schedules; here by the interpreter."""
    outcome = examine(read_case(path), native=False, auto=True)
    assert outcome.kind in ("passed", "unfit"), f"{outcome.where}\n{outcome.detail}"
