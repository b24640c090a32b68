"""Pins --emulate, --fallback, and which target a file with tensor schedules is for."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbc.cli import prepare
from hbc.cli.runs import emulation
from hbc.codegen.build import cross, processor, toolchain
from hbc.codegen.build.cross import is_foreign
from hbc.ir.lang.target import GPU, TARGETS

Command = Callable[..., Any]

TILES = """
kernel tiles
size   M, N, K
input  A: bf16[M, K]
input  B: bf16[K / 2, N, 2]
output C: f32[M, N]
require K % 2 == 0, "pairs of rows"
reduce k in K
acc[i, j]  = 0
acc[i, j] += f32(A[i, k]) * f32(B[k / 2, j, k % 2])
C[i, j]    = acc[i, j]
schedule tiles for amx {
    C.tile(i, j, io, jo, ii, ji, 16, 16, tail = exact).vectorize(ii).vectorize(ji)
    acc.compute_at(C, jo).store_in(amx_tile).vectorize(i).vectorize(j)
    acc.update.split(k, ko, ki, 32, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(i).vectorize(j).vectorize(ki)
}
example { M = 32; N = 16; K = 64; A = random(1, -1, 1); B = random(2, -1, 1) }
"""
COUNTS = {
    "ldtilecfg": 1, "tilerelease": 1, "tilezero": 2, "tileloadd": 8, "tilestored": 2, "tdpbf16ps": 4,
}  # fmt: skip
NOTE = "an emulator executes it, and times mean nothing"

HALVES = TILES.replace("bf16", "f16")
AMX = frozenset({"amx_tile", "amx_int8", "amx_bf16"})  # what the target needs, and no more

needs_emulator = pytest.mark.skipif(
    not emulation.can_emulate(TARGETS["amx"]), reason="needs x86-64 Linux with AVX2"
)  # fmt: skip


@pytest.fixture
def without_amx(monkeypatch: pytest.MonkeyPatch) -> None:
    """This processor has none, or is said to have none."""
    if "amx_tile" in processor.cpu_features():
        monkeypatch.setenv("HBC_FEATURES", "-amx_tile")


@pytest.fixture
def without_fp16(monkeypatch: pytest.MonkeyPatch) -> None:
    """This processor is said to have AMX, but no products of f16."""
    found = (processor.cpu_features() | AMX) - {"amx_fp16"}
    monkeypatch.setattr(processor, "cpu_features", lambda: found)


@pytest.fixture
def tiles(tmp_path: Path) -> Path:
    path = tmp_path / "tiles.hb"
    path.write_text(TILES, encoding="utf-8")
    return path


@pytest.fixture
def halves(tmp_path: Path) -> Path:
    path = tmp_path / "halves.hb"
    path.write_text(HALVES, encoding="utf-8")
    return path


@needs_emulator
@pytest.mark.usefixtures("without_amx")
@pytest.mark.parametrize("how", [["--emulate"], []])
def test_run(hbc: Command, tiles: Path, how: list[str]) -> None:
    done = hbc("run", tiles, "--target", "amx", "--json", *how)
    assert done.code == 0
    found = json.loads(done.out)
    assert found["emulated"] == COUNTS
    assert found["verified"]
    assert NOTE in done.err


@needs_emulator
@pytest.mark.usefixtures("without_fp16")
def test_asked_for_it_emulates_what_the_processor_has(hbc: Command, tiles: Path) -> None:
    done = hbc("run", tiles, "--target", "amx", "--emulate", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["emulated"] == COUNTS
    assert "note: an emulator executes AMX, as --emulate asks, and times mean nothing" in done.err


@needs_emulator
@pytest.mark.usefixtures("without_fp16")
@pytest.mark.parametrize("command", ["run", "verify", "bench"])
def test_an_instruction_that_is_missing_beside_others(
    hbc: Command, command: str, halves: Path
) -> None:
    """The processor executes tiles of bf16: those of f16 are the emulator's."""
    few = {"verify": ["--trials", "1"], "bench": ["--seconds", "0"]}.get(command, [])
    done = hbc(command, halves, "--target", "amx", "--json", *few)
    assert done.code == 0, done.err
    assert json.loads(done.out)["emulated"]["tdpfp16ps"] >= 4
    assert "note: this processor has no amx_fp16: an emulator executes AMX" in done.err


@needs_emulator
@pytest.mark.usefixtures("without_fp16")
def test_the_others_are_left_to_the_processor(hbc: Command, tiles: Path) -> None:
    done = hbc("run", tiles, "--target", "amx", "--json")
    assert "emulator" not in done.err
    if done.code == 0:  # it has them
        assert json.loads(done.out)["emulated"] is None
    else:
        assert "`tiles` cannot run: this processor has no amx_" in done.err


@needs_emulator
@pytest.mark.usefixtures("without_fp16")
def test_the_fallback_for_an_instruction_that_is_missing(hbc: Command, halves: Path) -> None:
    done = hbc("run", halves, "--target", "amx", "--fallback", "scalar", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["emulated"] is None
    first = next(iter(processor.missing_features(TARGETS["amx"])), "amx_fp16")  # of vectors, if any
    assert f"note: this processor has no {first}" in done.err
    assert "the plain loops run" in done.err


@needs_emulator
@pytest.mark.usefixtures("without_amx")
def test_run_in_words(hbc: Command, tiles: Path) -> None:
    done = hbc("run", tiles, "--target", "amx")
    assert "8 tileloadd, 4 tdpbf16ps, 2 tilestored, 2 tilezero, 1 ldtilecfg" in done.out


@needs_emulator
def test_verify(hbc: Command, tiles: Path) -> None:
    done = hbc("verify", tiles, "--target", "amx", "--emulate", "--trials", "1", "--json")
    assert done.code == 0
    found = json.loads(done.out)
    assert found["ok"]
    assert found["emulated"]["tdpbf16ps"] >= COUNTS["tdpbf16ps"]


@needs_emulator
@pytest.mark.usefixtures("without_amx")
def test_bench_says_that_times_mean_nothing(hbc: Command, tiles: Path) -> None:
    done = hbc("bench", tiles, "--target", "amx", "--seconds", "0")
    assert done.code == 0
    assert ": the times mean nothing" in done.out
    assert NOTE in done.err


def test_nothing_to_emulate(hbc: Command, gemm: Path) -> None:
    done = hbc("run", gemm, "--target", "c", "--emulate", "--json")
    assert done.code == 0
    assert json.loads(done.out)["emulated"] is None
    assert "`c` code runs without an emulator" in done.err


@needs_emulator
@pytest.mark.usefixtures("without_amx")
def test_the_fallback_runs_instead(hbc: Command, tiles: Path) -> None:
    done = hbc("run", tiles, "--target", "amx", "--fallback", "scalar", "--json")
    assert done.code == 0
    assert json.loads(done.out)["emulated"] is None
    assert "amx_tile, amx_int8, amx_bf16: the plain loops run" in done.err


@needs_emulator
def test_the_fallback_is_for_those_without(hbc: Command, tiles: Path) -> None:
    done = hbc("run", tiles, "--target", "amx", "--fallback", "scalar", "--emulate", "--json")
    assert json.loads(done.out)["emulated"] == COUNTS


@pytest.mark.skipif("amx_tile" in processor.processor_features(), reason="this processor has AMX")
@needs_emulator
@pytest.mark.usefixtures("without_fp16")
def test_the_code_refuses_by_itself(hbc: Command, tiles: Path) -> None:
    """A processor that is said to have AMX, by a system that does not permit it."""
    done = hbc("run", tiles, "--target", "amx")
    assert done.code == 4
    assert "`tiles` cannot run: this processor has no amx_tile, or the system does" in done.err


def test_what_no_emulator_has(hbc: Command, tiles: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(emulation, "missing_features", lambda target: ("avx2", "amx_tile"))
    monkeypatch.setattr(prepare, "can_run", lambda target: target.name == "c")
    monkeypatch.setattr(prepare, "missing_features", lambda target: ("avx2", "amx_tile"))
    done = hbc("run", tiles, "--target", "amx", "--emulate")
    assert done.code == 4
    assert "this processor cannot run `amx` code: it lacks avx2, amx_tile" in done.err


def test_no_emulation_without_a_compiler_for_the_other_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """qemu alone does not do: the tests that ask are skipped where there is no cross compiler."""
    target = next(t for t in TARGETS.values() if is_foreign(t.machine) and t.machine != GPU)
    monkeypatch.setattr(cross, "on_path", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(toolchain, "cross_commands", lambda machine: [])
    assert not emulation.can_emulate(target)


@pytest.mark.usefixtures("without_avx512")
def test_c_functions_stand_for_vectors(
    hbc: Command, gemm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = hbc("run", gemm, "--target", "avx512", "--json")
    assert done.code == 0, done.err
    assert json.loads(done.out)["verified"]
    assert "avx512f" in json.loads(done.out)["by_functions"]
    assert "no AVX-512: C functions stand for it, and times mean nothing" in done.err
    monkeypatch.setattr(processor, "cpu_features", frozenset)
    done = hbc("run", gemm, "--target", "avx512")
    assert done.code == 4
    assert "this processor cannot run `avx512` code: it lacks avx512f" in done.err


@pytest.mark.parametrize("kernel", ["gemm", "tiles"])
def test_the_fallback_is_for_vectors_too(
    hbc: Command, kernel: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HBC_FEATURES", "-avx512f,-amx_tile")
    path = request.getfixturevalue(kernel)
    target = "avx512" if kernel == "gemm" else "amx"
    done = hbc("run", path, "--target", target, "--fallback", "scalar", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["verified"]
    assert found["by_functions"] == []
    assert "the plain loops run" in done.err


@pytest.mark.usefixtures("without_amx")
def test_the_target_is_that_of_the_schedules(hbc: Command, tiles: Path, tmp_path: Path) -> None:
    done = hbc("compile", tiles, "-o", tmp_path)
    assert done.code == 0
    assert "note: for `amx`, because there is no schedule for `" in done.err
    assert "generated by hbc for amx." in (tmp_path / "tiles.c").read_text()


def test_and_nothing_is_said_where_it_runs(
    hbc: Command, tiles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    everything = processor.cpu_features() | frozenset(TARGETS["amx"].needs)
    monkeypatch.setattr(processor, "cpu_features", lambda: everything)
    done = hbc("compile", tiles, "-o", tmp_path)
    assert done.code == 0
    assert "note: for" not in done.err
    assert "generated by hbc for amx." in (tmp_path / "tiles.c").read_text()


def test_a_schedule_for_less_serves_the_default(
    hbc: Command, brighten: Path, tmp_path: Path
) -> None:
    done = hbc("compile", brighten, "-o", tmp_path)
    assert "note: for" not in done.err


def test_no_schedule_at_all(hbc: Command, tiles: Path, tmp_path: Path) -> None:
    done = hbc("compile", tiles, "--schedule", "none", "-o", tmp_path)
    assert "note: for" not in done.err


def test_fallback_in_the_file(hbc: Command, tiles: Path, tmp_path: Path) -> None:
    done = hbc("compile", tiles, "--fallback", "scalar", "-o", tmp_path)
    assert done.code == 0
    text = (tmp_path / "tiles.c").read_text()
    assert "if (missing_feature() != 0) {\n" in text
    assert "tiles_plain(" in text
