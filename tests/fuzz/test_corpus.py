"""Programs that once failed, made small: each says in a comment what broke."""

from __future__ import annotations

from pathlib import Path

import pytest
from agreement import examine
from case import Case, parse_case, read_case

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.hb"))


@pytest.mark.parametrize("path", CORPUS, ids=[path.stem for path in CORPUS])
def test_stays_fixed(path: Path) -> None:
    case = read_case(path)
    outcome = examine(case)
    expected = "rejected" if "# refused: " in case.program else "passed"
    assert outcome.kind == expected, f"{outcome.where}\n{outcome.detail}"
    if expected == "rejected":
        assert case.program.partition("# refused: ")[2].splitlines()[0] in outcome.detail


@pytest.mark.parametrize("path", CORPUS, ids=[path.stem for path in CORPUS])
def test_says_what_broke(path: Path) -> None:
    assert path.read_text(encoding="utf-8").startswith("# Broke: ")


def test_a_case_survives_its_text() -> None:
    case = Case("output f: f32[3]\nf[x] = 1.0", ({"W": 3}, {"W": 0}), "avx2", False, 7)
    again = parse_case(case.text)
    assert (again.sizes, again.target, again.fixed, again.seed) == (
        case.sizes, case.target, case.fixed, case.seed,
    )  # fmt: skip
    assert case.program in again.program
