"""A point gives the same schedule, options and costs whatever other points were made before it."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from random import Random

import pytest

from hbc.cli.instruction_set import instructions_of
from hbc.cli.pipeline import load_pipeline
from hbc.cli.tuning import by_model
from hbc.cli.tuning.by_model import ByModel
from hbc.cli.tuning.strategy import Explored
from hbc.frontend.automatic.points import space_of
from hbc.frontend.costs.choices import Choices
from hbc.ir.lang.target import TARGETS

SAMPLES = Path(__file__).parents[3] / "samples"


@pytest.mark.parametrize(
    ("sample", "target"),
    [("conv2d_u8s8", "amx"), ("apps/unsharp", "avx512"), ("recursive", "avx2")],
)
def test_what_was_made_before_changes_nothing(sample: str, target: str) -> None:
    p = load_pipeline(SAMPLES / f"{sample}.hb", {})
    known = instructions_of(TARGETS[target])
    explored = Explored(space_of(p, TARGETS[target], {}, "tuned", known), {})
    points = [point for _, point in islice(explored.neighbours({}), 12)]
    drawn = Random(1)
    points += [explored.anywhere(drawn) for _ in range(4)]
    for point in points:
        anew = space_of(p, TARGETS[target], {}, "tuned", known).made(point)
        assert explored.schedules.made(point) == anew


@pytest.mark.parametrize("size", [9, 16])
def test_tiles_are_told_from_vectors(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where they cost as much, three of the first eight on AMX were plain vectors, 70 times slower."""
    monkeypatch.setattr(by_model, "SECONDS", 300.0)  # as many are looked at on a busy machine
    given = dict.fromkeys("HW", str(size)) | dict.fromkeys("CK", "192")
    p = load_pipeline(SAMPLES / "conv2d_u8s8.hb", given)
    known = instructions_of(TARGETS["amx"])
    explored = Explored(space_of(p, TARGETS["amx"], given, "tuned", known), {})
    first = ByModel(Random(0)).propose(explored, [], 8)
    assert len(first) == 8 and first[0].point == {}
    assert all("store_in(amx_tile)" in c.text for c in first)


def test_choices_are_asked_again_where_an_answer_differs() -> None:
    made: list[int] = []
    known: list[tuple[list[tuple[str, tuple[object, ...], object]], int]] = []

    def make(c: Choices) -> int:
        n = c.pick("rows", 2, (4, 8))
        made.append(n if n < 8 else n * c.pick("columns", 1, (3,)))
        return made[-1]

    asked = []
    for point in (
        {},
        {"rows": 4},
        {"rows": 16},
        {"rows": 8},
        {"rows": 8, "columns": 3},
        {"other": 1},
    ):
        choices = Choices(point)
        choices.once(known, make)
        asked.append((choices.asked, choices.effective()))
    assert made == [2, 4, 8, 24]  # neither 16, which is no option, nor what is not asked for
    rows, columns = {"rows": (2, 4, 8)}, {"columns": (1, 3)}
    assert asked == [
        (rows, {}), (rows, {"rows": 4}), (rows, {}), (rows | columns, {"rows": 8}),
        (rows | columns, {"rows": 8, "columns": 3}), (rows, {}),
    ]  # fmt: skip
