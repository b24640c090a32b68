"""Where the prices of instructions come from: documents that are named, and programs that can be run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

from hbc.codegen.build.cuda_cpu import build, find_cpp
from hbc.ir.ground.diag import ToolError
from hbc.synth.results.cost_table import FOLDER, cost_table, targets

BENCH = Path(__file__).parents[3] / "samples" / "bench"
WARP_COSTS = BENCH / "warp_costs.cu"
DOCUMENTS = (
    r"CUDA C\+\+ Programming Guide \d+\.\d+",
    "Nsight Compute Profiling Guide, [A-Z]",
    "Neoverse N1 Software Optimization Guide, (ASIMD|load)",
    "Neoverse V1 Software Optimization Guide, SVE",
)


@pytest.mark.parametrize("target", targets())
def test_every_price_names_a_document_or_a_program(target: str) -> None:
    for row in cost_table(target).instructions:
        program = re.match(r"(?:measured|counted) by (\w+\.sh)", row.source)
        if program is None:
            assert any(re.match(document, row.source) for document in DOCUMENTS), row.source
        else:
            assert (BENCH / program[1]).exists()


def test_hvx_prices_are_what_fits_into_a_packet() -> None:
    """Counted again by the assembler that is here."""
    clang = shutil.which("clang")
    probe = ["--target=hexagon", "-mcpu=hexagonv66", "-mhvx", "-x", "c", "-fsyntax-only", "-"]
    if clang is None or subprocess.run([clang, *probe], input=b"", capture_output=True).returncode:
        pytest.skip("there is no clang for Hexagon")
    said = subprocess.run([BENCH / "hvx_packets.sh"], capture_output=True, text=True, check=True)
    lines = [line.split() for line in said.stdout.splitlines() if not line.startswith("#")]
    share = {name: float(value) for name, _, value in lines}
    costs = {row.name: row.cost for row in cost_table("hvx").instructions}
    expected = {
        "valign": share["valign"], "vror": share["vror"], "vmux": share["vmux"],
        "vshuffe": share["vshuffe.b"], "vshuffo": share["vshuffo.h"],
        "vshuff_e": share["vshuff"], "vshuff_o": share["vshuff"], "vshuff": share["vshuff"],
        "vdeal": share["vdeal"], "vand": share["vand"], "vmem": share["vmem"],
        "vand_q": share["vmem"] + share["vand.q"],
        "vlut32": share["vshuff.b"] + share["vlut32"] + 3 * share["vlut32.or"],
    }  # fmt: skip
    assert costs == expected


def measured_here(folder: Path) -> str:
    """The table that warp_costs prints, run on the processor, where its numbers mean nothing."""
    try:
        find_cpp()
    except ToolError as e:
        pytest.skip(str(e))
    text = "#define ROUNDS 2\n" + WARP_COSTS.read_text(encoding="utf-8")
    program = build(text, folder / "warp_costs", "program", name="warp_costs")
    return subprocess.run([program, "1"], capture_output=True, text=True, check=True).stdout


def test_the_measured_table_has_what_the_published_one_has(tmp_path: Path) -> None:
    made = tomllib.loads(measured_here(tmp_path))
    known = tomllib.loads((FOLDER / "cuda_sm80.toml").read_text(encoding="utf-8"))
    assert (made["model"], made["unit"]) == (known["model"], known["unit"])
    patterns = {name: row["pattern"] for name, row in known["instructions"].items()}
    assert {name: row["pattern"] for name, row in made["instructions"].items()} == patterns
    assert all(row["cost"] > 0 for row in made["instructions"].values())


def test_nvcc_compiles_the_measurement(nvcc: tuple[str, ...], tmp_path: Path) -> None:
    """Without a warning or a spill. Without a GPU the script says so."""
    for arch in ("sm_80", "sm_90"):
        command = [
            *nvcc, "-std=c++17", "-O3", f"-arch={arch}", "-Xptxas", "-v", "-Xcompiler", "-Wall,-Wextra",
            "-cubin", str(WARP_COSTS), "-o", str(tmp_path / "costs.cubin"),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        assert "warning" not in done.stderr
        assert done.stderr.count("0 bytes spill stores") == done.stderr.count("spill stores") == 9


def test_without_nvcc_the_script_says_so() -> None:
    done = subprocess.run(
        [BENCH / "warp_costs.sh"], capture_output=True, text=True, check=False,
        env={**os.environ, "NVCC": "/nowhere/nvcc"},
    )  # fmt: skip
    assert done.returncode == 4
    assert "no nvcc" in done.stderr
