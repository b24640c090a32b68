"""The picture of a tuning: what is drawn of it, and what is refused before it begins."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from tuning_fakes import GEMM, QUICK, TARGET, Fakes

from hbc.cli.main import exit_code_of
from hbc.cli.tuning.plot import so_far

DRAWN = pytest.mark.skipif(find_spec("matplotlib") is None, reason="no matplotlib: hbc[plots]")


@pytest.fixture
def gemm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nothing is compiled, run or known."""
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("hbc.cli.tuning.session._roofs", lambda threads, shown: None)
    monkeypatch.setattr("hbc.cli.tuning.session.Builders", Fakes)
    monkeypatch.setattr("hbc.cli.measuring.track.NativeMeter", Fakes)
    path = tmp_path / "gemm.hb"
    path.write_text(GEMM, encoding="utf-8")
    return path


@DRAWN
@pytest.mark.parametrize("name", ["found.svg", "found.PNG", "found.pdf"])
def test_a_tuning_is_drawn(gemm: Path, tmp_path: Path, capsys, name: str) -> None:
    picture = tmp_path / name
    assert exit_code_of(["tune", str(gemm), *QUICK, "--plot", str(picture), "--json"]) == 0
    said = capsys.readouterr()
    assert f"wrote {picture}" in said.err and json.loads(said.out)["tried"] == 4
    data = picture.read_bytes()
    assert data.startswith((b"<?xml", b"\x89PNG", b"%PDF"))
    if name.endswith(".svg"):
        assert b"the best so far" in data and b"auto" in data and b"seconds" in data


@DRAWN
def test_the_legend_hides_nothing(
    gemm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It covered all where each was measured late. Those that were measured together stand apart."""
    from matplotlib import pyplot

    figures: list[Any] = []
    monkeypatch.setattr(pyplot, "close", figures.append)
    assert exit_code_of(["tune", str(gemm), *QUICK, "--plot", str(tmp_path / "found.svg")]) == 0
    (figure,) = figures
    figure.draw_without_rendering()
    axes = figure.axes[0]
    legend, plotted, label = (
        part.get_window_extent() for part in (axes.get_legend(), axes, axes.xaxis.label)
    )
    assert list(axes.lines[0].get_xdata()) == [1, 2, 3, 4]
    assert not legend.overlaps(plotted) and not legend.overlaps(label)
    assert figure.bbox.x0 <= legend.x0 and legend.x1 <= figure.bbox.x1 and legend.y0 >= 0


@DRAWN
def test_a_table_is_drawn(gemm: Path, tmp_path: Path) -> None:
    table, picture = tmp_path / "layers.csv", tmp_path / "found.svg"
    table.write_text("M,N,K\n16,32,8\n24,32,8\n", encoding="utf-8")
    given = ["--layers", str(table), "--trials", "2", "--target", TARGET, "--plot", str(picture)]
    assert exit_code_of(["tune", str(gemm), *given]) == 0
    data = picture.read_text(encoding="utf-8")
    assert "M = 16, N = 32, K = 8" in data and "M = 24, N = 32, K = 8" in data


def test_the_best_so_far_only_grows() -> None:
    points = [(1, 5.0), (3, 4.0), (4, 7.0), (2, 6.0)]
    assert so_far(points, 9) == [(1, 5.0), (2, 6.0), (4, 7.0), (9, 7.0)]
    assert so_far([], 9) == []


@pytest.mark.parametrize(
    ("picture", "code", "said"),
    [
        ("found.txt", 2, "--plot cannot draw `found.txt`\nhint: name a file that ends with .svg"),
        ("missing/found.svg", 1, "cannot write `missing/found.svg`: there is no folder"),
        ("folder.svg", 1, "cannot write `folder.svg`: it exists and is not a regular file"),
    ],
)
def test_what_cannot_be_drawn_is_said_before(
    gemm: Path, tmp_path: Path, monkeypatch, capsys, picture: str, code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder.svg").mkdir()
    assert exit_code_of(["tune", str(gemm), *QUICK, "--plot", picture]) == code
    assert said in capsys.readouterr().err


def test_without_matplotlib_it_says_what_to_install(
    gemm: Path, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    picture = tmp_path / "found.svg"
    assert exit_code_of(["tune", str(gemm), *QUICK, "--plot", str(picture)]) == 4
    err = capsys.readouterr().err
    assert "--plot needs matplotlib" in err and "pip install 'hbc[plots]'" in err
