"""The table of a matrix product's steps in docs/cuda.md is what the script reckons today, and what counts
instructions counts them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SASS = """
	.section	.text.other,"ax",@progbits
.L_x_0:
        /*0000*/                   FFMA R0, R1, R2, R0 ;
        /*0010*/                   LDG.E R1, [R2.64] ;
        /*0020*/                   BRA `(.L_x_0) ;
	.section	.text.k,"ax",@progbits
        /*0000*/                   MOV R1, RZ ;
.L_x_1:
        /*0010*/                   LDG.E.64 R2, [R4.64] ;
        /*0020*/              @!P0 BRA `(.L_x_2) ;
        /*0030*/                   LDG.E.U16 R2, [R4.64] ;
        /*0040*/                   PRMT R2, R2, 0x5410, R3 ;
.L_x_2:
        /*0050*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
.L_x_3:
        /*0060*/                   FFMA R0, R1.reuse, R2, R0 ;
        /*0070*/                   FFMA R3, R1, R4, R3 ;
        /*0080*/               @P1 BRA `(.L_x_3) ;
        /*0090*/               @P2 BRA `(.L_x_1) ;
        /*00a0*/                   EXIT ;
"""


PRODUCTS = """
	.section	.text.k,"ax",@progbits
        /*0000*/                   STL [R1], R2 ;
.L_x_1:
        /*0010*/                   LDG.E.U16 R2, [R4.64] ;
        /*0020*/              @!P0 BRA `(.L_x_2) ;
        /*0030*/                   FSEL R2, R2, RZ, P1 ;
        /*0040*/                   FSEL R3, R3, RZ, P1 ;
        /*0050*/                   BRA `(.L_x_4) ;
.L_x_2:
        /*0060*/                   MOV R2, R2 ;
.L_x_4:
        /*0070*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0080*/                   MOV R9, RZ ;
.L_x_3:
        /*0090*/                   HMMA.16816.F32 R20, R48, R16, RZ ;
        /*00a0*/                   IADD3 R9, R9, 0x1, RZ ;
        /*00b0*/                   ISETP.NE.AND P1, PT, R9, 0x5, PT ;
        /*00c0*/               @P1 BRA `(.L_x_3) ;
        /*00d0*/               @P2 BRA `(.L_x_1) ;
        /*00e0*/                   EXIT ;
"""


PIPELINE = """
	.section	.text.k,"ax",@progbits
.L_x_1:
        /*0000*/                   LDGSTS.E.BYPASS.128 [R2], [R4.64] ;
.L_x_2:
        /*0010*/                   LDGSTS.E.BYPASS.128 [R2], [R4.64] ;
        /*0020*/                   BAR.SYNC.DEFER_BLOCKING 0x0 ;
        /*0030*/                   HMMA.16816.F32 R20, R48, R16, R20 ;
        /*0040*/               @P1 BRA `(.L_x_2) ;
        /*0050*/                   HMMA.16816.F32 R20, R48, R16, R20 ;
        /*0060*/               @P2 BRA `(.L_x_1) ;
        /*0070*/                   EXIT ;
"""


@pytest.fixture
def _scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", [str(ROOT / "samples" / "bench"), *sys.path])


@pytest.mark.usefixtures("_scripts")
def test_the_table_is_of_today() -> None:
    import gpu_steps

    page = (ROOT / "docs" / "cuda.md").read_text(encoding="utf-8")
    shown = page.partition(gpu_steps.BEGIN)[2].partition(gpu_steps.END)[0]
    assert shown.splitlines() == gpu_steps.table(shown, None)
    assert all(row[name] for row in gpu_steps.cells(shown).values() for name in gpu_steps.MEASURED)


@pytest.mark.usefixtures("_scripts")
def test_instructions_are_counted() -> None:
    """The inner loop runs four times for 256 multiply-adds of a warp; what is for rows that are not
    aligned does not run."""
    from gpu_sass import per_product

    assert per_product(SASS, "k", 256) == (4 * 3 + 4) / 256
    assert per_product(SASS, "other", None) == 3 / 32


@pytest.mark.usefixtures("_scripts")
def test_main_loops_are_counted() -> None:
    """The inner loop runs five times; of two pieces of code the shorter runs, in whole blocks."""
    from gpu_sass import MainLoop, main_loop

    once = 1 + 1 + 1 + 1 + 1  # load, branch, move, barrier, move
    assert main_loop(PRODUCTS, "k") == MainLoop(15, once + 5 * 4 + 1, 5, 1, 1, 1)
    assert main_loop(SASS, "k") is None


@pytest.mark.usefixtures("_scripts")
def test_the_loop_of_a_pipeline_is_the_main_one() -> None:
    """What begins and ends it in a loop around is not of it."""
    from gpu_sass import MainLoop, main_loop

    assert main_loop(PIPELINE, "k") == MainLoop(8, 4, 1, 0, 1, 0)


def test_without_a_disassembler_the_script_says_so_first() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "samples" / "bench" / "sass.py", "--nvdisasm", "/nowhere/nvdisasm"],
        capture_output=True, text=True, check=False, env={**os.environ, "NVCC": "/nowhere/nvcc"},
    )  # fmt: skip
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "sass.py: error: no `/nowhere/nvdisasm`: pip install nvidia-cuda-nvdisasm, and name its file by "
        "--nvdisasm"
    )
