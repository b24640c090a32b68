"""Pins HBC_FEATURES: hbc, its children and the code that they run take the processor for a lesser one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbc.cli.instruction_set import instructions_of
from hbc.cli.pipeline import features_of
from hbc.codegen.build.load import KernelError, load
from hbc.codegen.build.pretended import NOWHERE
from hbc.codegen.build.processor import cpu_features, missing_features, processor_features
from hbc.codegen.build.program import build_callable
from hbc.codegen.c.file import emit_c
from hbc.ir.ground.diag import UsageError
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.read import read_kernel
from hbc.ir.lang.target import TARGETS

Command = Callable[..., Any]

DOTS = """
kernel dots
input A: bf16[32]
input B: bf16[32]
output C: f32[16]
instruction vdpbf16ps_zmm
{
    C[ramp(0, 1, 16)] = instruct<vdpbf16ps_zmm:f32x16>(
        x16(0.0:f32), A.bf16x32[ramp(0, 1, 32)], B.bf16x32[ramp(0, 1, 32)])
}"""


@pytest.mark.parametrize(
    ("pretended", "lost", "kept"),
    [
        ("-amx_fp16", {"amx_fp16"}, {"amx_tile", "avx512f"}),
        ("-amx_tile", {"amx_tile", "amx_bf16", "amx_int8", "amx_fp16"}, {"avx512f"}),
        ("-avx512f", {"avx512f", "avx512_vnni", "avx512_bf16", "avx512bw"}, {"avx2", "amx_tile"}),
        ("-avx512_vnni, -avx_vnni", {"avx512_vnni", "avx_vnni"}, {"avx512f", "avx512_bf16"}),
        ("-avx2", {"avx2", "avx_vnni", "avx512f", "avx512bw"}, {"fma", "f16c"}),
        ("", set(), {"avx2"}),
    ],
)
def test_what_is_taken_away(
    monkeypatch: pytest.MonkeyPatch, pretended: str, lost: set[str], kept: set[str]
) -> None:
    """And what is built on it."""
    monkeypatch.setenv("HBC_FEATURES", pretended)
    assert not lost & cpu_features()
    assert kept & cpu_features() == kept & processor_features()


@pytest.mark.parametrize(
    ("pretended", "message", "hint"),
    [
        ("amx_tile", "`amx_tile` does not begin with `-`", "would not run"),
        ("+amx_tile", "`+amx_tile` does not begin with `-`", "would not run"),
        ("-avx512_vni", "there is no feature `avx512_vni`", "did you mean `avx512_vnni`?"),
        ("-amx_tile,-", "there is no feature ``", "/proc/cpuinfo"),
    ],
)
def test_what_makes_no_sense(
    monkeypatch: pytest.MonkeyPatch, pretended: str, message: str, hint: str
) -> None:
    monkeypatch.setenv("HBC_FEATURES", pretended)
    with pytest.raises(UsageError) as raised:
        cpu_features()
    assert message in raised.value.diagnostics[0].message
    assert hint in str(raised.value.diagnostics[0].hint)


def test_in_a_process_of_its_own(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hbc.cli.main", "targets"]
    for pretended, code in (("-avx512f,-amx_tile", 0), ("avx512f", 2)):
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd=tmp_path,
            env={**os.environ, "HBC_FEATURES": pretended},
        )  # fmt: skip
        assert done.returncode == code, done.stderr
        if code == 0:
            assert "no avx512f, avx512bw" in done.stdout
        else:
            assert done.stderr.startswith("error: HBC_FEATURES: `avx512f` does not begin with `-`")


def dots() -> Kernel:
    return read_kernel(DOTS, instructions_of(TARGETS["avx512bf16"]))


@pytest.mark.parametrize("feature", ["avx512f", "avx512_bf16"])
def test_the_code_believes_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, feature: str
) -> None:
    """Nothing stands for what it lacks: it must not find it."""
    target = TARGETS["avx512bf16"]
    source = emit_c(dots(), target, None, features_of(target))
    monkeypatch.setenv("HBC_FEATURES", f"-{feature}")
    library = build_callable(source, target, tmp_path, soft=False)
    assert isinstance(library, Path)
    arrays = {n: np.zeros(32, np.uint16) for n in "AB"} | {"C": np.zeros(16, np.float32)}
    with pytest.raises(KernelError, match="this processor has no avx512"):
        load(library, dots())({}, arrays)


def test_code_for_the_user_asks_the_processor(
    hbc: Command, gemm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = []
    for pretended in ("", "-avx512f"):
        monkeypatch.setenv("HBC_FEATURES", pretended)
        done = hbc("compile", gemm, "--target", "avx512", "--fallback", "scalar", "-o", tmp_path)
        assert done.code == 0, done.err
        texts.append((tmp_path / "gemm.c").read_text())
    assert texts[0] == texts[1]
    assert NOWHERE not in texts[0]


@pytest.mark.skipif(missing_features(TARGETS["avx2"]) != (), reason="this processor has no AVX2")
def test_a_run(hbc: Command, gemm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HBC_FEATURES", "-avx512f")
    done = hbc("run", gemm, "--json")
    assert json.loads(done.out)["target"] == "avx2"
    done = hbc("run", gemm, "--target", "avx512", "--json")
    assert done.code == 0, done.err
    assert "avx512f" in json.loads(done.out)["by_functions"]
