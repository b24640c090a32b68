"""Schedules in strips of every height are those that each height gives by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hbc.cli.pipeline import load_pipeline
from hbc.frontend.automatic import candidates
from hbc.frontend.automatic.candidates import STRIPS, in_strips
from hbc.frontend.automatic.place import Placing, placing
from hbc.frontend.automatic.typical import typical_sizes
from hbc.frontend.automatic.write import lines_of
from hbc.frontend.costs.inlining import inlined
from hbc.frontend.costs.machine import machine_of
from hbc.ir.lang.target import TARGETS

SAMPLES = Path(__file__).parents[3] / "samples"


@pytest.mark.parametrize(
    ("sample", "settings", "made"),
    [
        ("conv2d_u8s8.hb", "H=16 W=16 C=64 K=64", 3),
        ("conv2d_u8s8.hb", "H=70 W=70 C=64 K=64", 5),
        ("apps/unsharp.hb", "", 6),
    ],
)
def test_each_is_as_alone(
    monkeypatch: pytest.MonkeyPatch, sample: str, settings: str, made: int
) -> None:
    given = dict(word.split("=") for word in settings.split())
    p = load_pipeline(SAMPLES / sample, given)
    machine = machine_of(TARGETS["avx512"])
    graph = inlined(p, typical_sizes(p, given), ())
    alone = [placing(graph, machine, n) for n in STRIPS]
    counted: list[Placing] = []

    def counting(*given: Any) -> Placing:
        counted.append(placing(*given))
        return counted[-1]

    monkeypatch.setattr(candidates, "placing", counting)
    together = in_strips(lambda: graph, machine, STRIPS)
    assert [x.cycles for x in together] == [x.cycles for x in alone]
    assert [lines_of(x) for x in together] == [lines_of(x) for x in alone]
    assert len(counted) == made
