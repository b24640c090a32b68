"""Pins what each command does from end to end, on small kernels."""

import ctypes
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import pytest
from PIL import Image as Pillow

from hbc.cli.passes import NAMES
from hbc.cli.roof import roofs
from hbc.cli.runs.native import Native
from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.diag import Diagnostic, HbcError, ToolError

Command = Callable[..., Any]


@pytest.fixture(autouse=True)
def quick_roofs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measuring the machine is tested apart."""

    def made_up(threads: int, *_: object, **__: object) -> roofs.Roofs:
        bandwidths = {"L1": 2e11, "L2": 1e11, "L3": 8e10, "DRAM": 3e10}
        levels = {"L1": 1 << 15, "L2": 1 << 20, "L3": 1 << 25}
        return roofs.Roofs(threads, {"f32": 1e11, "u8s8": 4e11}, bandwidths, levels)

    monkeypatch.setattr(roofs, "machine_roofs", made_up)


@pytest.fixture
def compiler() -> str:
    try:
        return str(find_compiler())
    except ToolError as missing:
        pytest.skip(str(missing))


def names(folder: Path) -> list[str]:
    return sorted(file.name for file in folder.iterdir())


def test_compile_writes_c_and_header(hbc: Command, gemm: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "folder"
    done = hbc("compile", gemm, "--target", "c", "--schedule", "none", "-o", out)
    assert (done.code, done.out) == (0, "")
    assert done.err == f"wrote {out / 'gemm.c'}\nwrote {out / 'gemm.h'}\n"
    assert names(out) == ["gemm.c", "gemm.h"]
    first = (out / "gemm.c").read_bytes()
    hbc("compile", gemm, "--target", "c", "--schedule", "none", "-o", out)
    assert (out / "gemm.c").read_bytes() == first


@pytest.mark.parametrize(
    ("target", "schedule", "arch", "code", "why"),
    [
        ("cuda", "mma", "sm_75", 1, "`mma_m16n16k16_f16` needs sm_80, and sm_75 is older"),
        ("cuda", "simt", "sm_70", 2, "`sm_70` is too old"),
        ("cuda", "simt", "sm_75", 0, "wrote"),
        ("c", "none", "sm_80", 2, "`--arch` is for GPUs, and the target is `c`"),
    ],
)
def test_architectures_of_a_source(
    hbc: Command, tmp_path: Path, target: str, schedule: str, arch: str, code: int, why: str
) -> None:
    """They are looked at without nvcc too."""
    sample = Path(__file__).parents[3] / "samples" / "cuda" / "gemm_f16.hb"
    done = hbc(
        "compile",
        sample,
        "--target",
        target,
        "--schedule",
        schedule,
        "--arch",
        arch,
        "-o",
        tmp_path,
    )
    assert done.code == code
    assert why in done.err
    assert bool(names(tmp_path)) == (code == 0)


def test_compile_makes_libraries(hbc: Command, gemm: Path, tmp_path: Path, compiler: str) -> None:
    emitted = [option for kind in ("so", "a", "obj") for option in ("--emit", kind)]
    done = hbc("compile", gemm, "--target", "c", "-o", tmp_path / "out", *emitted)
    assert done.code == 0
    assert names(tmp_path / "out") == ["gemm.a", "gemm.o", "gemm.so"]
    explain = ctypes.CDLL(str(tmp_path / "out" / "gemm.so")).gemm_strerror
    explain.restype = ctypes.c_char_p
    assert explain(0) == b"no error"


def test_compile_fixes_sizes_that_are_set(
    hbc: Command, gemm: Path, tmp_path: Path, compiler: str
) -> None:
    hbc("compile", gemm, "--target", "c", "-o", tmp_path, "--set", "K=3")
    assert "K must be 3" in (tmp_path / "gemm.h").read_text().replace("`", "")
    subprocess.run(
        [*find_compiler().command, "-Wall", "-Wextra", "-Werror", "-c", tmp_path / "gemm.c"],
        cwd=tmp_path, check=True,
    )  # fmt: skip


def test_compile_shows_ir_and_loops(hbc: Command, gemm: Path) -> None:
    done = hbc("compile", gemm, "--target", "c", "--emit", "loops", "--emit", "ir")
    assert done.code == 0
    assert "for k in K" in done.out
    assert "input A: f32[M, K]" in done.out


@pytest.mark.parametrize("name", NAMES)
def test_dump_after_each_pass(hbc: Command, gemm: Path, tmp_path: Path, name: str) -> None:
    done = hbc("compile", gemm, "--target", "c", "--dump-after", name)
    assert done.code == 0
    assert done.out.startswith(f"# after {name}\nkernel gemm\n")
    assert names(tmp_path) == ["gemm.hb"]


def test_time_shows_every_pass(hbc: Command, gemm: Path, tmp_path: Path) -> None:
    done = hbc("compile", gemm, "--target", "c", "-o", tmp_path, "--time")
    shown = [line.split()[0] for line in done.err.splitlines() if line.endswith(" ms")]
    assert shown == [*NAMES, "emit", "total"]


def test_unknown_names_suggest_known_ones(hbc: Command, gemm: Path) -> None:
    for arguments, hint in (
        (["--dump-after", "vectorise"], "did you mean `vectorize`?"),
        (["--target", "avx51"], "did you mean `avx512`?"),
    ):
        done = hbc("compile", gemm, *arguments)
        assert done.code == 2
        assert hint in done.err


def test_a_mistake_in_the_kernel_is_1_and_writes_nothing(hbc: Command, tmp_path: Path) -> None:
    kernel = tmp_path / "k.hb"
    kernel.write_text("size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = AA[i]\n")
    done = hbc("compile", kernel, "-o", tmp_path / "out")
    assert done.code == 1
    assert done.err.startswith(f"{kernel}:4:8: error: ")
    assert names(tmp_path) == ["k.hb"]


def test_run_on_the_example(hbc: Command, gemm: Path, compiler: str) -> None:
    done = hbc("run", gemm, "--target", "c")
    assert done.code == 0
    facts = {line.split()[0]: line for line in done.out.splitlines()[1:]}
    said = facts.keys() - {"busy", "mistrust"}  # of a machine that does something else as well
    assert said == {"sizes", "checked", "time", "speed", "roof"}
    assert "M = 7, N = 5, K = 3" in facts["sizes"]


def test_run_on_files(hbc: Command, gemm: Path, tmp_path: Path, compiler: str) -> None:
    a = np.random.default_rng(1).random((6, 4), np.float32)
    b = np.random.default_rng(2).random((4, 9), np.float32)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    done = hbc(
        "run", gemm, "--target", "c", "--json",
        "--input", f"A={tmp_path / 'a.npy'}", "--input", f"B={tmp_path / 'b.npy'}",
        "--output", tmp_path / "c.npy",
    )  # fmt: skip
    assert done.code == 0
    found = json.loads(done.out)
    assert found["sizes"] == {"M": 6, "N": 9, "K": 4}
    assert found["verified"]
    assert found["max_error_over_bound"] <= 1
    assert np.allclose(np.load(tmp_path / "c.npy"), a @ b, rtol=1e-5)


def test_run_on_a_picture(hbc: Command, brighten: Path, tmp_path: Path, compiler: str) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (5, 6, 3), np.uint8)
    Pillow.fromarray(pixels).save(tmp_path / "in.png")
    done = hbc(
        "run", brighten, "--target", "c", "--threads", "2",
        "--input", tmp_path / "in.png", "--output", tmp_path / "out.png",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "2 threads" in done.out
    assert "equal to the oracle" in done.out
    expected = np.minimum(pixels.astype(int) + 50, 255)
    assert np.array_equal(np.asarray(Pillow.open(tmp_path / "out.png")), expected)


def test_set_wins_over_the_files_of_an_example(
    hbc: Command, brighten: Path, tmp_path: Path, compiler: str
) -> None:
    np.save(tmp_path / "i.npy", np.zeros((4, 6, 3), np.uint8))
    text = brighten.read_text().replace("H = 9; W = 14; I = random(1)", 'I = file("i.npy")')
    brighten.write_text(text)
    assert "H = 4, W = 6" in hbc("run", brighten, "--target", "c").out
    done = hbc("run", brighten, "--target", "c", "--set", "H=5", "--set", "W=2")
    assert (done.code, "H = 5, W = 2" in done.out) == (0, True)
    assert done.err.startswith("note: the example's file does not have these sizes: `I` is random")
    assert "H = 5, W = 6" in hbc("run", brighten, "--target", "c", "--set", "H=5").out
    done = hbc("run", brighten, "--target", "c", "--set", "H=5", "--input", tmp_path / "i.npy")
    assert done.code == 1
    assert f"sizes contradict each other: `I` from {tmp_path / 'i.npy'} is 4 long" in done.err


def test_run_on_empty_arrays(hbc: Command, gemm: Path, tmp_path: Path, compiler: str) -> None:
    done = hbc("run", gemm, "--target", "c", "--set", "M=0", "--output", tmp_path / "c.npy")
    assert done.code == 0, done.err
    assert np.load(tmp_path / "c.npy").shape == (0, 5)


def test_nan_passes_through(hbc: Command, gemm: Path, tmp_path: Path, compiler: str) -> None:
    a = np.array([[np.nan, 1], [np.inf, 1], [1, 1]], np.float32)
    b = np.array([[0, 1], [1, 1]], np.float32)
    np.save(tmp_path / "a.npy", a)
    np.save(tmp_path / "b.npy", b)
    done = hbc(
        "run", gemm, "--target", "c", "--output", tmp_path / "c.npy",
        "--input", f"A={tmp_path / 'a.npy'}", "--input", f"B={tmp_path / 'b.npy'}",
    )  # fmt: skip
    assert done.code == 0, done.err
    with np.errstate(invalid="ignore"):
        assert np.array_equal(np.load(tmp_path / "c.npy"), a @ b, equal_nan=True)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--input", "x.npy"], 2, "does not say which array it is"),
        (["--input", "Z=x.npy"], 2, "there is no `Z`"),
        (["--input", "A=x.npy", "--input", "A=y.npy"], 2, "is given twice"),
        (["--input", "A=missing.npy"], 1, "cannot read `missing.npy` for `A`"),
        (["--input", "A=x.xyz"], 1, "no format has the suffix `.xyz`"),
        (["--output", "missing/c.npy"], 1, "there is no folder `missing`"),
        (["--example", "large"], 2, "there is no example `large`\nhint: there is `default`"),
        (["--schedule", "quick"], 2, "no schedule `quick`"),
        (["--output", ""], 1, "its name has no suffix"),
        (["--output", "c.wav", "--set", "M=-1"], 2, "a size is at least 0"),
        (["--set", "M=-1"], 2, "a size is at least 0"),
        (["--set", "M=1000000", "--set", "N=1000000"], 1, "this machine has"),
    ],
)
def test_run_refuses(
    hbc: Command, gemm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    arguments: list[str], code: int, said: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    done = hbc("run", gemm, "--target", "c", *arguments)
    assert done.code == code, done.err
    assert said in done.err
    assert names(tmp_path) == ["gemm.hb"]


def test_a_wrong_result_is_3_and_is_not_written(
    hbc: Command, gemm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    _break_c(monkeypatch)
    done = hbc("run", gemm, "--target", "c", "--output", tmp_path / "c.npy")
    assert done.code == 3
    assert "`C` differs from the oracle in " in done.err
    assert names(tmp_path) == ["gemm.hb"]
    assert hbc("run", gemm, "--target", "c", "--no-verify").code == 0


def test_verify(hbc: Command, gemm: Path, compiler: str) -> None:
    done = hbc("verify", gemm, "--target", "c", "--trials", "6", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert found["ok"]
    assert found["max_error_over_bound"] <= 1
    assert found["trials"] == sum(stage["trials"] for stage in found["stages"])
    assert found["stages"][0]["name"] == "lower"
    assert all(stage["not_compared"] < stage["elements"] for stage in found["stages"])
    assert found["stages"][-1] == found["stages"][-1] | {"name": "native", "trials": 7}


def test_verify_counts_what_it_cannot_compare(hbc: Command, tmp_path: Path, compiler: str) -> None:
    """exp of the largest number whose exp is finite: within two ulps is infinity."""
    file = tmp_path / "close_to_infinity.hb"
    file.write_text(
        "size N\ninput A: f32[N]\noutput O: f32[N]\nO[i] = exp(min(A[i], 0) + 88.72283935546875)\n"
    )
    done = hbc("verify", file, "--target", "c", "--trials", "2")
    assert done.code == 0, done.err
    found = re.search(r"native: ([\d,]+) of ([\d,]+) elements could not be compared", done.err)
    assert found is not None, done.err
    assert 0 < int(found[1].replace(",", "")) <= int(found[2].replace(",", ""))


def test_verify_names_comparisons_among_what_it_cannot_compare(
    hbc: Command, tmp_path: Path, compiler: str
) -> None:
    """Of a quotient and a product rounding decides whether they are the number that was divided."""
    file = tmp_path / "close.hb"
    file.write_text("size N\ninput A: f32[N]\noutput O: bool[N]\nO[i] = A[i] / 3 * 3 == A[i]\n")
    done = hbc("verify", file, "--target", "c", "--trials", "2")
    assert done.code == 0, done.err
    assert "by an overflow, a NaN or a comparison that is near" in done.err


def test_verify_keeps_sizes_that_are_set(hbc: Command, gemm: Path, compiler: str) -> None:
    done = hbc("verify", gemm, "--target", "c", "--set", "K=4", "--trials", "3")
    assert done.code == 0, done.err
    assert [line.split()[-1] for line in done.out.splitlines()[2:]].count("ok") >= 2


def test_verify_finds_a_wrong_compiler(
    hbc: Command, gemm: Path, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    _break_c(monkeypatch)
    done = hbc("verify", gemm, "--target", "c")
    assert done.code == 3
    assert "WRONG" in done.out
    assert "error: native: at " in done.err
    assert hbc("verify", gemm, "--target", "c", "--no-native").code == 0


def test_verify_says_once_that_the_code_failed(
    hbc: Command, gemm: Path, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    def call(*_arguments: object, **_options: object) -> NoReturn:
        raise HbcError(Diagnostic("the kernel refused its arguments"))

    monkeypatch.setattr(Native, "call", call)
    done = hbc("verify", gemm, "--target", "c", "--trials", "1")
    assert done.code == 3
    assert done.err.count("error: ") == done.err.count("error: native: at ")
    assert "the kernel refused its arguments" in done.err


def test_check_counts_registers(hbc: Command, tmp_path: Path) -> None:
    """Mistakes that are known only when code is printed."""
    refused = Path(__file__).parents[2] / "eqsat/choosing/refused/too_many_accumulators.hb"
    done = hbc("check", refused)
    assert done.code == 1
    assert "14 tile registers are needed at once, and there are 8" in done.err


def test_bench(hbc: Command, gemm: Path, compiler: str) -> None:
    done = hbc("bench", gemm, "--target", "c", "--seconds", "0.01", "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    promised = "kernel target schedule threads seconds_median gflops gbytes_per_s roof_share"
    assert set(promised.split()) <= found.keys()
    assert found["flops"] == 2 * 7 * 5 * 3
    assert found["threads"] == 1
    assert found["gflops"] == pytest.approx(210 / found["seconds_median"] / 1e9)


def test_bench_respects_omp_num_threads(
    hbc: Command, brighten: Path, monkeypatch: pytest.MonkeyPatch, compiler: str
) -> None:
    def threads(*arguments: str) -> object:
        done = hbc("bench", brighten, "--target", "c", "--seconds", "0", "--json", *arguments)
        return json.loads(done.out)["threads"]

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert threads() == 1
    monkeypatch.setenv("OMP_NUM_THREADS", "2,1")
    assert threads() == 2
    assert threads("--threads", "3") == 3


def test_no_compiler_is_4(hbc: Command, gemm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CC", "no-such-compiler")
    done = hbc("run", gemm, "--target", "c", "--schedule", "none")
    assert (done.code, len(done.err.splitlines())) == (4, 1)


def test_code_for_another_processor_is_4(
    hbc: Command, gemm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hbc.codegen.build.processor.cpu_features", lambda: frozenset({"avx2", "f16c", "bmi2"})
    )
    done = hbc("run", gemm, "--target", "avx512")
    assert done.code == 4
    assert "cannot run `avx512` code: it lacks avx512f, avx512bw, " in done.err
    assert "hint: use --target with one of: c" in done.err


def test_check_reports_all_files(hbc: Command, gemm: Path, tmp_path: Path) -> None:
    assert hbc("check", gemm).code == 0
    for name in ("a", "b"):
        (tmp_path / f"{name}.hb").write_text("size N\noutput B: f32[N]\nB[i] = X[i]\n")
    done = hbc("check", gemm, tmp_path / "a.hb", tmp_path / "b.hb", tmp_path / "none.hb")
    assert done.code == 1
    assert done.err.count("error: ") == 3


def test_check_as_json(hbc: Command, gemm: Path, tmp_path: Path) -> None:
    done = hbc("check", gemm, "--json")
    assert (done.code, json.loads(done.out)) == (
        0,
        {"ok": True, "files": 1, "mistakes": [], "warnings": []},
    )
    (tmp_path / "a.hb").write_text("size N\noutput B: f32[N]\nB[i] = XX[i]\n")
    done = hbc("check", tmp_path / "a.hb", tmp_path / "none.hb", "--json")
    found = json.loads(done.out)
    assert (done.code, found["ok"], len(found["mistakes"])) == (1, False, 2)
    first, second = found["mistakes"]
    place = {"file": str(tmp_path / "a.hb"), "line": 3, "column": 8, "length": 2}
    assert first.items() >= place.items()
    assert first["message"].startswith("unknown")
    assert second["message"].startswith("cannot read")
    assert second["line"] is None


@pytest.mark.parametrize(
    ("content", "code", "said"),
    [
        (b"", 1, "k.hb:1:1: error: the file has no output"),
        (b"# nothing\n", 1, "k.hb:1:1: error: the file has no output"),
        (b"\x7fELF\xff\xfe", 1, "is not UTF-8 text (byte 4)"),
        (b"size N\0", 1, "k.hb:1:7: error: U+0000 has no meaning here"),
        (b"x" * 10_000_000, 1, "has 10,000,000 characters, and hbc reads at most"),
        (b"\xef\xbb\xbfsize N\r\ninput A: f32[N]\r\noutput B: f32[N]\r\nB[i] = A[i]\r\n", 0, ""),
    ],
    ids=["empty", "comment", "binary", "zero", "giant", "mark"],
)
@pytest.mark.parametrize("command", ["check", "compile", "run", "verify", "bench"])
def test_odd_files(
    hbc: Command, tmp_path: Path, command: str, content: bytes, code: int, said: str, compiler: str
) -> None:
    (tmp_path / "k.hb").write_bytes(content)
    arguments = ["-o", tmp_path] if command == "compile" else []
    arguments += ["--set", "N=3"] if code == 0 else []
    done = hbc(command, tmp_path / "k.hb", *arguments)
    assert done.code == code, done.err
    assert said in done.err
    assert code == 0 or names(tmp_path) == ["k.hb"]


@pytest.mark.parametrize("command", ["check", "compile", "run", "verify", "bench", "fmt"])
def test_no_file_at_all(hbc: Command, tmp_path: Path, command: str) -> None:
    missing = hbc(command, tmp_path / "none.hb")
    assert (missing.code, missing.out) == (1, "")
    assert (
        missing.err == f"error: cannot read `{tmp_path / 'none.hb'}`: No such file or directory\n"
    )
    folder = hbc(command, tmp_path)
    assert folder.err == f"error: cannot read `{tmp_path}`: it is a folder, not a file\n"


def test_sizes_within_quotients_are_not_guessed(
    hbc: Command, tmp_path: Path, compiler: str
) -> None:
    kernel = tmp_path / "half.hb"
    kernel.write_text("size N\ninput A: f32[(N + 1) / 2]\noutput B: f32[N]\nB[i] = A[i / 2]\n")
    np.save(tmp_path / "a.npy", np.ones(5, np.float32))
    arguments = ["run", kernel, "--target", "c", "--input", tmp_path / "a.npy"]
    done = hbc(*arguments)
    assert (done.code, "nothing says how large `N` is" in done.err) == (1, True)
    assert hbc(*arguments, "--set", "N=9").code == 0
    assert hbc(*arguments, "--set", "N=10").code == 0
    done = hbc(*arguments, "--set", "N=11")
    assert (done.code, "`A` from " in done.err, "must be 6" in done.err) == (1, True, True)


def test_fmt(hbc: Command, tmp_path: Path) -> None:
    kernel = tmp_path / "k.hb"
    kernel.write_text("size   N\ninput A : f32[ N ]\noutput B: f32[N]\nB[i]=A[i]\n")
    before = kernel.read_text()
    done = hbc("fmt", "--check", kernel)
    assert (done.code, done.err) == (1, f"would format {kernel}\n")
    done = hbc("fmt", "--diff", kernel)
    assert done.code == 0
    assert "+B[i] = A[i]" in done.out
    assert kernel.read_text() == before
    assert hbc("fmt", kernel).code == 0
    assert "B[i] = A[i]" in kernel.read_text()
    assert hbc("fmt", "--check", kernel).code == 0


def test_fmt_leaves_broken_files(hbc: Command, tmp_path: Path) -> None:
    kernel = tmp_path / "k.hb"
    kernel.write_text("size N N N [\n")
    assert hbc("fmt", kernel).code == 1
    assert kernel.read_text() == "size N N N [\n"


def _break_c(monkeypatch: pytest.MonkeyPatch) -> None:
    """A code generator that computes something else."""
    from dataclasses import replace

    from hbc.cli import kept_kernels
    from hbc.codegen.c import file

    real = file.emit_c

    def broken(kernel: Any, target: Any, *more: Any) -> Any:
        source = real(kernel, target, *more)
        assert "0.0f" in source.text
        return replace(source, text=source.text.replace("0.0f", "0.25f"))

    monkeypatch.setattr(file, "emit_c", broken)
    monkeypatch.setattr(kept_kernels, "kept", lambda name: None)
    monkeypatch.setattr(kept_kernels, "keep", lambda name, data: None)
