"""`hbc bench --plot`: a roofline with the kernel and others at their places."""

import json
import re
from pathlib import Path

import pytest

from hbc.cli.roof import plot
from hbc.cli.roof.roofs import Roofs
from hbc.cli.roof.speed import Speed
from hbc.cli.runs.work import Work
from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.diag import HbcError, ToolError
from tests.cli.conftest import Command

ROOFS = Roofs(1, {"f32": 100e9, "u8s8": 400e9}, {"L1": 200e9, "DRAM": 20e9}, {"L1": 1 << 15})
SPEED = Speed((0.02, 0.01, 0.04), Work({"f32": 10**9}, 10**8, True), ROOFS)


def drawn(path: Path) -> list[str]:
    """The texts of an SVG."""
    return re.findall(r">([^<>]*\S[^<>]*)</text>", path.read_text(encoding="utf-8"))


def test_rates_and_roofs(tmp_path: Path) -> None:
    file = tmp_path / "roof.svg"
    plot.draw_roofline(file, "blur", SPEED, {"other": 0.05})
    texts = drawn(file)
    assert "hbc: 50 GFLOP/s" in texts  # 10^9 operations in the median of 0.02 s
    assert "other: 20 GFLOP/s, hbc is 2.5 x as fast" in texts
    assert {"L1 200 GB/s", "DRAM 20 GB/s", "f32 100 GFLOP/s", "blur: 50% of the roof"} <= set(texts)
    before = file.read_bytes()
    plot.draw_roofline(file, "blur", SPEED, {"other": 0.05})
    assert file.read_bytes() == before


def test_slopes_side_by_side_share_a_label(tmp_path: Path) -> None:
    """Two of one bandwidth had theirs on top of each other."""
    rates = {"L1": 200e9, "L2": 100e9, "L3": 22.8e9, "DRAM": 22.5e9}
    roofs = Roofs(1, ROOFS.peaks, rates, {"L1": 1 << 15, "L2": 1 << 20, "L3": 1 << 25})
    plot.draw_roofline(tmp_path / "roof.svg", "blur", Speed(SPEED.times, SPEED.work, roofs), {})
    slopes = [text for text in drawn(tmp_path / "roof.svg") if text.endswith("GB/s")]
    assert slopes == ["L1 200 GB/s", "L2 100 GB/s", "L3 22.8, DRAM 22.5 GB/s"]


def test_a_long_title_has_lines(tmp_path: Path) -> None:
    """It was cut off at both sides of the picture."""
    file = tmp_path / "roof.svg"
    title = "gemm for avx512vbmi, schedule fast, which is written for avx512, at M = 1024, N = 1024"
    plot.draw_roofline(file, title, SPEED, {})
    lines = [text for text in drawn(file) if text in f"{title}: 50% of the roof"]
    assert " ".join(lines) == f"{title}: 50% of the roof" and len(lines) == 2


@pytest.mark.parametrize(("ending", "start"), [(".png", b"\x89PNG"), (".pdf", b"%PDF")])
def test_formats(tmp_path: Path, ending: str, start: bytes) -> None:
    plot.draw_roofline(tmp_path / f"roof{ending}", "blur", SPEED, {})
    assert (tmp_path / f"roof{ending}").read_bytes().startswith(start)


def test_nothing_to_draw() -> None:
    with pytest.raises(HbcError, match="without arithmetic"):
        plot.check_work(Work({}, 100, True))


def test_no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plot, "find_spec", lambda name: None)
    with pytest.raises(ToolError, match="matplotlib"):
        plot.check_plot(Path("roof.svg"))


def test_the_command(hbc: Command, gemm: Path, tmp_path: Path) -> None:
    try:
        find_compiler()
    except ToolError as missing:
        pytest.skip(str(missing))
    file = tmp_path / "roof.svg"
    done = hbc(
        "bench", gemm, "--target", "c", "--seconds", "0.01", "--json",
        "--plot", file, "--beside", "a=b=0.5",
    )  # fmt: skip
    assert done.code == 0, done.err
    rate = json.loads(done.out)["gflops"]
    assert f"hbc: {rate:.3g} GFLOP/s" in drawn(file)
    assert any(text.startswith("a=b: ") for text in drawn(file))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ["--plot", "roof.txt"],
            "error: --plot: `roof.txt` has none of the endings .svg, .png, .pdf",
        ),
        (["--beside", "a=1"], "error: --beside is for a picture\nhint: name one with --plot"),
        (["--plot", "r.svg", "--beside", "a"], "error: --beside: `a` is not NAME=SECONDS"),
        (["--plot", "r.svg", "--beside", "a=nan"], "error: --beside: `a=nan` is not NAME=SECONDS"),
        (["--plot", "r.svg", "--beside", "=1"], "error: --beside: `=1` is not NAME=SECONDS"),
    ],
)
def test_wrong_options(hbc: Command, gemm: Path, arguments: list[str], said: str) -> None:
    done = hbc("bench", gemm, *arguments)
    assert done.code == 2
    assert done.err.startswith(said)
