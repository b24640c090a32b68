"""The tables of layers that samples/bench/unit.sh measures, and its report."""

import sys
from collections.abc import Iterator
from json import loads
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "samples" / "bench"


@pytest.fixture(autouse=True)
def _scripts() -> Iterator[None]:
    sys.path.insert(0, str(BENCH))
    yield
    sys.path.remove(str(BENCH))


def test_the_tables_have_the_layers_of_the_paper() -> None:
    import unit

    rows = {name: [row for _, row in unit.rows_of(name, set())] for name in unit.TABLES}
    assert {name: len(each) for name, each in rows.items()} == {"16": 16, "148": 148, "3d": 11}
    for each in rows.values():
        assert all(row["H"] >= row["R"] and row["stride"] in (1, 2) for row in each)
    assert rows["16"][3] == {"C": 80, "H": 73, "W": 73, "K": 192, "R": 3, "S": 3, "stride": 1}
    assert [n for n, _ in unit.rows_of("16", {2, 5})] == [2, 5]


def test_ratios_are_those_of_the_same_turn() -> None:
    import unit
    import unit_pair

    row = {"C": 8, "H": 4, "W": 4, "K": 16, "R": 1, "S": 1, "stride": 1}
    layer = unit_pair.Layer(Path("k.hb"), row, "c", "u8s8", operations=1e3)
    output = unit_pair.aligned((2,), unit_pair.np.dtype("int32"))
    ours, theirs = (
        unit_pair.Contender(name, unit_pair.bind(0, 0, [], []), output, "blocks", (), windows)
        for name, windows in (("auto", [1e-6, 4e-6, 2e-6]), ("oneDNN", [1e-6, 2e-6, 1e-6]))
    )
    result = unit.Result(1, layer, {"auto": ours, "oneDNN": theirs})
    assert result.ratio("auto") == 0.5
    lines = unit.table([result], ["auto"], 2.0, "oneDNN 3")
    assert lines[-1] == "| 1 | 8 x 4x4 to 16, 1x1 | 1 | 1 | 0.50 | 50% | blocks |"
    (said,) = unit.summary([result], ["auto"], 2.0)
    assert "0.500 of oneDNN" in said and "1 below 0.9, 1 below 0.6" in said
    assert said.endswith("50% of the roof in the median, 1 below 60%: 1")
    held = loads(result.as_json())
    assert held["ratios"] == {"auto": 0.5} and held["rates"]["oneDNN"] == 1.0
