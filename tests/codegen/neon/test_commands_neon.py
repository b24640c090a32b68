"""The commands with a target for another processor: what they make, run and miss."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of
from hbc.codegen.build.cross import is_foreign
from hbc.ir.lang.target import Target

GEMM = """
kernel gemm
size   M, N, K
input  A: u8[M, K]
input  B: i8[K, N]
output C: i32[M, N]
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k, j])
C[i, j]    = acc[i, j]
schedule dots for arm_dot {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = exact).vectorize(ji, 4).unroll(ji).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 4).unroll(i).unroll(j)
    acc.update.split(k, ko, ki, 4, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(j, 4).vectorize(ki).unroll(i).unroll(j)
}
example { M = 8; N = 32; K = 12; A = random(1); B = random(2) }
"""
ELF_MACHINE_ARM = 183  # e_machine of AArch64 (ELF for the Arm 64-bit Architecture)


@pytest.fixture
def gemm(tmp_path: Path) -> Path:
    path = tmp_path / "gemm.hb"
    path.write_text(GEMM)
    return path


@pytest.fixture
def foreign(arm: Target) -> Target:
    if not is_foreign(arm.machine):
        pytest.skip("this processor is an ARM one: nothing is emulated")
    return arm


def hbc(*arguments: str | Path) -> int:
    return exit_code_of([str(argument) for argument in arguments])


@pytest.mark.usefixtures("arm")
def test_products_become_dot_products(gemm: Path, tmp_path: Path) -> None:
    assert hbc("compile", gemm, "--target", "arm_dot", "-o", tmp_path) == 0
    text = (tmp_path / "gemm.c").read_text()
    assert "vusdotq_s32(" in text
    assert "vmulq_s32(" not in text
    assert hbc("verify", gemm, "--target", "arm_dot") == 0


def test_run_and_bench(foreign: Target, gemm: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert hbc("run", gemm, "--target", foreign.name, "--json") == 0
    said = capfd.readouterr()
    assert json.loads(said.out)["max_error_over_bound"] == 0
    assert "note: runs under qemu-aarch64: its times say nothing of a real processor" in said.err
    assert hbc("bench", gemm, "--target", foreign.name, "--seconds", "0", "--json") == 0
    assert json.loads(capfd.readouterr().out)["flops"] == 2 * 8 * 32 * 12


def test_a_processor_without_the_instructions(
    foreign: Target, gemm: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """An error of the tools, or with --fallback plain loops."""
    monkeypatch.setenv("QEMU_CPU", "cortex-a53")
    assert hbc("run", gemm, "--target", foreign.name) == 4
    assert "this processor has no i8mm" in capfd.readouterr().err
    assert hbc("run", gemm, "--target", foreign.name, "--fallback", "scalar") == 0


@pytest.mark.parametrize("kind", ["so", "a", "obj"])
def test_libraries_are_for_that_processor(
    foreign: Target, gemm: Path, kind: str, tmp_path: Path
) -> None:
    out = tmp_path / "made"
    assert hbc("compile", gemm, "--target", foreign.name, "--emit", kind, "-o", out) == 0
    (path,) = out.iterdir()
    if kind == "a":
        if shutil.which("ar") is None:
            pytest.skip("ar is not installed")
        subprocess.run(["ar", "x", path.name], cwd=out, check=True)
        path = next(p for p in out.iterdir() if p != path)
    header = path.read_bytes()[:20]
    assert header[:4] == b"\x7fELF"
    assert int.from_bytes(header[18:20], "little") == ELF_MACHINE_ARM


def test_missing_tools_are_named(
    foreign: Target, gemm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    emulator = shutil.which("qemu-aarch64")
    assert emulator is not None
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("hbc.codegen.build.cross.find_spec", lambda name: None)  # no ziglang either
    assert hbc("run", gemm, "--target", foreign.name) == 4
    assert "hint: install qemu-user" in capfd.readouterr().err
    (folder / "qemu-aarch64").symlink_to(emulator)
    assert hbc("run", gemm, "--target", foreign.name) == 4
    assert "hint: install gcc-aarch64-linux-gnu, or `pip install" in capfd.readouterr().err
    assert hbc("compile", gemm, "--target", foreign.name, "-o", tmp_path) == 0  # C needs no tools


@pytest.mark.usefixtures("arm")
def test_names_may_be_those_of_intrinsics(tmp_path: Path) -> None:
    path = tmp_path / "k.hb"
    path.write_text("""
size N
input vld1q_f32: f32[N]
input float32x4_t: f32[N]
output vaddq_f32: f32[N]
vdupq_n_f32[i] = vld1q_f32[i] * 2
vaddq_f32[i] = vdupq_n_f32[i] + float32x4_t[i] + exp(vld1q_f32[i])
schedule s for arm_dot {
    vaddq_f32.vectorize(i, 8)
    vdupq_n_f32.compute_root().vectorize(i, 4)
}
example { N = 37; vld1q_f32 = random(1); float32x4_t = random(2) }
""")
    assert hbc("verify", path, "--target", "arm_dot", "--trials", "1") == 0
