"""What shells are offered, asked as they ask."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

SAMPLES = Path(__file__).resolve().parents[3] / "samples"


def offered(*words: str) -> list[str]:
    """For the last of the words, by the protocol that click has for bash."""
    line = ["hbc", *words]
    asked = {
        "_HBC_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(line),
        "COMP_CWORD": str(len(words)),
    }
    program = "from hbc.cli.main import commands; commands(prog_name='hbc')"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | asked,
        capture_output=True,
        text=True,
        check=False,
    )
    assert not done.stderr
    return [line.partition(",")[2] for line in done.stdout.split()]


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (("comp",), ["compile"]),
        (("run", "gemm.hb", "--target", "avx512v"), ["avx512vbmi", "avx512vnni"]),
        (("compile", "gemm.hb", "--targets", "c,avx512vn"), ["c,avx512vnni"]),
        (("bench", str(SAMPLES / "gemm_f32.hb"), "--schedule", "na"), ["narrow"]),
        (("compile", str(SAMPLES / "gemm_f32.hb"), "--set", ""), ["M=", "N=", "K="]),
        (
            ("compile", str(SAMPLES / "gemm_f32.hb"), "K"),
            ["K=", "K"],
        ),  # the last: files of such names
        (("compile", "gemm"), ["gemm"]),
        (("run", str(SAMPLES / "gemm_f32.hb"), "K"), ["K="]),
        (("compile", "no such file.hb", "--schedule", ""), ["auto", "none"]),
        (("diff", str(SAMPLES / "gemm_f32.hb"), "--schedule", "fa"), ["fast"]),
    ],
)
def test_offers(words: tuple[str, ...], wanted: list[str]) -> None:
    assert offered(*(word.replace(" ", "\\ ") for word in words)) == wanted
