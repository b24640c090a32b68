"""Pins that the roofs of this machine are measured once, and make sense."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from hbc.cli.roof import roofs, team
from hbc.cli.roof.speed import Speed, speed_of
from hbc.cli.runs.native import Repeat
from hbc.cli.runs.work import Work
from hbc.cli.show.report import Progress
from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.diag import ToolError


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> roofs.Roofs:
    try:
        find_compiler()
    except ToolError as missing:
        pytest.skip(str(missing))
    monkeypatch.setenv("HBC_CACHE", str(tmp_path))
    # Short: only whether the numbers make sense is asked here.
    monkeypatch.setattr(team, "REPEAT", Repeat(least=2, most=2))
    monkeypatch.setattr(roofs, "CALL_SECONDS", 0.002)
    monkeypatch.setattr(team, "BYTES_PER_CALL", 1 << 24)
    return roofs.machine_roofs(1, Progress(None))


def test_numbers_make_sense(measured: roofs.Roofs) -> None:
    assert 1e8 < measured.peaks["f64"] < measured.peaks["f32"] < 1e13
    assert set(measured.bandwidths) == {"L1", "L2", "L3", "DRAM"}
    assert all(1e8 < rate < 1e13 for rate in measured.bandwidths.values())
    assert measured.level(1) == "L1"
    assert measured.level(1 << 40) == "DRAM"
    assert measured.peak("no such kind") == measured.peaks["f32"]


def test_measured_once(measured: roofs.Roofs, monkeypatch: pytest.MonkeyPatch) -> None:
    def again(threads: int) -> roofs.Roofs:
        raise AssertionError("measured again")

    monkeypatch.setattr(roofs, "_measure", again)
    assert roofs.machine_roofs(1, Progress(None)) == measured
    with pytest.raises(AssertionError, match="measured again"):
        roofs.machine_roofs(1, Progress(None), refresh=True)


@pytest.mark.parametrize("content", ["", "{}", "[]", '{"threads": 1}', "\x00"])
def test_a_damaged_cache_is_measured_again(
    measured: roofs.Roofs, tmp_path: Path, content: str
) -> None:
    (file,) = tmp_path.glob("roofs-*.json")
    file.write_text(content)
    assert roofs.machine_roofs(1, Progress(None)).peaks.keys() == measured.peaks.keys()


def test_roofs_below_a_run_are_raised(measured: roofs.Roofs, tmp_path: Path) -> None:
    """Figures of a busy moment do not stay: a share above 1 makes hbc measure again."""
    (file,) = tmp_path.glob("roofs-*.json")
    slow = {"f32": measured.peaks["f32"] / 1000}
    busy = replace(measured, peaks={**measured.peaks, **slow})
    work = Work({"f32": 10**9}, 8, floating=True)
    at_half_speed = (2 * 1e9 / measured.peaks["f32"],)
    assert Speed(at_half_speed, work, busy).roof_share > 100
    speed = speed_of(at_half_speed, work, busy, Progress(None))
    assert speed.roof_share < 5
    assert json.loads(file.read_text())["peaks"]["f32"] == speed.roofs.peaks["f32"]
    assert speed.roofs.peaks["f64"] >= measured.peaks["f64"]


def test_roofs_above_a_run_stay(measured: roofs.Roofs, monkeypatch: pytest.MonkeyPatch) -> None:
    def again(threads: int) -> roofs.Roofs:
        raise AssertionError("measured again")

    monkeypatch.setattr(roofs, "_measure", again)
    work = Work({"f32": 10**9}, 8, floating=True)
    assert speed_of((10.0,), work, measured, Progress(None)).roofs is measured


def test_a_nearer_level_is_no_slower() -> None:
    """On a busy machine L3 was measured below memory."""
    seen = {"L1": 379.0, "L2": 140.0, "L3": 15.0, "DRAM": 23.0}
    assert roofs.none_below(seen) == {"L1": 379.0, "L2": 140.0, "L3": 23.0, "DRAM": 23.0}
    assert list(roofs.none_below(seen)) == list(seen)


def test_the_best_round_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """What else the machine does can only make it slower."""
    made, rounds = object.__new__(team.Team), iter([5.0, 2.0, 7.0])
    monkeypatch.setattr(made, "_round", lambda *_: next(rounds), raising=False)
    assert made.seconds("any", [1], []) == 2.0


def test_a_best_call_above_the_roof_is_said() -> None:
    """Nothing is above the roof, unless that was measured wrong: after measuring again it is said."""
    low = roofs.Roofs(1, {"f32": 1e9}, {"L1": 1e12, "DRAM": 1e9}, {"L1": 1 << 15})
    work, asked = Work({"f32": 10**9}, 8, floating=True), []

    def again(found: roofs.Roofs, _: Progress) -> roofs.Roofs:
        asked.append(found)
        return replace(found, peaks={"f32": 2e9})

    speed = speed_of((3.0, 3.0, 0.8), work, low, Progress(None), again)
    assert asked == [low]
    assert speed.best_share == pytest.approx(0.5 / 0.8)
    assert "mistrust" not in dict(speed.facts())
    assert (speed.as_json()["roof_share"], speed.as_json()["note"]) == (
        pytest.approx(0.5 / 3),
        None,
    )
    above = speed_of((0.1,), work, low, Progress(None), again)
    assert "mistrust" in dict(above.facts())
    assert above.as_json()["roof_share"] == 1 and "above the roof" in str(above.as_json()["note"])


@pytest.mark.parametrize(
    ("kind", "floating", "named"),
    [
        ("f32", True, "1e+03 GFLOP/s of f32 arithmetic"),
        ("f32", False, "1e+03 Gop/s of integer (at the rate of f32) arithmetic"),
        ("u8s8", False, "1e+03 Gop/s of u8s8 arithmetic"),
    ],
)
def test_integers_without_a_peak_of_their_own_are_said_to_have_none(
    kind: str, floating: bool, named: str
) -> None:
    high = roofs.Roofs(1, {"f32": 1e12}, {"L1": 1e12, "DRAM": 1e12}, {"L1": 1 << 15})
    speed = Speed((1.0,), Work({kind: 10**9}, 8, floating), high)
    assert dict(speed.facts())["roof"].endswith(named)


@pytest.mark.parametrize(("times", "busy"), [((1.0, 1.1, 1.2), False), ((1.0, 9.0, 9.5), True)])
def test_a_busy_machine_is_said(times: tuple[float, ...], busy: bool) -> None:
    high = roofs.Roofs(1, {"f32": 1e12}, {"L1": 1e12, "DRAM": 1e12}, {"L1": 1 << 15})
    speed = Speed(times, Work({"f32": 10**9}, 8, floating=True), high)
    assert speed.as_json()["busy"] is busy
    assert ("busy" in dict(speed.facts())) is busy


def test_the_kinds_and_functions_of_peaks() -> None:
    """Every function is in the program that it is said to be in, and `f32` can be measured anywhere."""
    folder = Path(roofs.__file__).parent
    for _, program, function, _ in roofs.PEAKS:
        assert f"({function}," in (folder / f"{program}.c").read_text()
    assert {"f16", "bf16", "u8s8"} == {k for k, _, f, _ in roofs.PEAKS if f.endswith("_amx")}
    assert any(kind == "f32" and not needs for kind, _, _, needs in roofs.PEAKS)
