"""Packs of compiled kernels call what `hbc synth` finds: the functions are those of the search, and what
they replace in a kernel is the layout change of that name."""

from __future__ import annotations

import subprocess
from pathlib import Path

import numpy as np
import pytest

from hbc.cli.main import exit_code_of
from hbc.cli.sketches.pack_functions import pack_functions
from hbc.codegen.build.processor import cpu_features
from hbc.codegen.build.soft_vectors import FLAGS as SOFT_FLAGS
from hbc.codegen.build.soft_vectors import functions_for
from hbc.codegen.c.interleaved_rows import FUNCTIONS, function_name, functions, template
from hbc.ir.lang.types import DTYPES
from hbc.ir.moves.gather import Gather
from hbc.ir.moves.layout_change import interleave, is_change

SAMPLES = Path(__file__).parents[3] / "samples"
TARGETS = {"avx512": 512, "avx2": 256}


@pytest.mark.parametrize("target", TARGETS)
def test_the_files_are_what_the_search_finds(target: str) -> None:
    path = template(TARGETS[target])
    assert path.read_text(encoding="ascii") == pack_functions(target), (
        "write it again: python -m hbc.cli.sketches.pack_functions"
    )


@pytest.mark.parametrize("target", TARGETS)
def test_the_functions_interleave(target: str, tmp_path: Path) -> None:
    """Numbered elements go through each function; where each came from is the gather it is."""
    bits = TARGETS[target]
    text = ["#include <immintrin.h>", "#include <stdint.h>", "#include <stdio.h>"]
    text += functions(bits).values()
    text.append("int main(void) {")
    for number, (rows, dtype) in enumerate(FUNCTIONS):
        width = DTYPES[dtype].bits
        count = bits // width
        element = f"uint{width}_t"
        text.append(
            f"{{ static {element} from[{rows} * {count + 3}], to[{rows * count + 2}];"
            f" for (int i = 0; i < {rows * count}; ++i)"
            f" from[i / {count} * {count + 3} + i % {count}] = ({element})i;"
            f" {function_name(rows, count, width)}(to + 1, from, {count + 3});"
            f' printf("{number}"); for (int i = 0; i < {rows * count + 2}; ++i)'
            ' printf(" %d", (int)to[i]); puts(""); }'
        )
    text.append("return 0; }")
    source, program = tmp_path / "packs.c", tmp_path / "packs"
    whole = "\n".join(text)
    flags = ["-mavx512f", "-mavx512bw"] if bits == 512 else ["-mavx2"]
    needed = "avx512bw" if bits == 512 else "avx2"
    if needed not in cpu_features():
        if "avx2" not in cpu_features():
            pytest.skip("this processor has no avx2")
        whole, flags = functions_for(whole) + whole, [*SOFT_FLAGS]
    source.write_text(whole, encoding="ascii")
    command = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", *flags, str(source), "-o", str(program)]
    subprocess.run(command, check=True)
    lines = subprocess.run([str(program)], check=True, capture_output=True, text=True).stdout
    for (rows, dtype), line in zip(FUNCTIONS, lines.splitlines(), strict=True):
        count = bits // DTYPES[dtype].bits
        values = np.array(line.split()[1:], dtype=np.int32)
        assert values[0] == values[-1] == 0  # nothing beyond the output is written
        found = Gather(((rows * count,),), (rows * count,), values[1:-1])
        assert is_change(found, interleave(rows, count))


def test_the_pack_of_a_kernel_calls_them(tmp_path: Path) -> None:
    path = str(SAMPLES / "gemm_u8s8.hb")
    assert exit_code_of(["compile", path, "--target", "avx512vnni", "-o", str(tmp_path)]) == 0
    text = (tmp_path / "gemm_u8s8.c").read_text(encoding="utf-8")
    assert "interleave_4x64_u8(&B_packed[256 * ko], &B[" in text
