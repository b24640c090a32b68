"""Files of several kernels: which one is meant, and one library of all."""

from __future__ import annotations

import ctypes
import json
import platform
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hbc as api
from hbc.codegen.build.processor import can_run
from hbc.codegen.build.toolchain import find_compiler
from hbc.codegen.c.build_text import OPTIONS
from hbc.frontend.text.fmt import format_source
from hbc.frontend.text.kernels import alone
from hbc.ir.ground.diag import UsageError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

Command = Callable[..., Any]
FILE = """\
# Two that share a function, a number and a table.
param gain: i32 = 3
table weights: i32[3] = [1, 2, 1]
def scaled(a) = a * gain

kernel smooth {
    size   N
    input  A: i32[N + 2]
    output B: i32[N]
    reduce r in 3
    B[i] = 0
    B[i] += scaled(weights[r] * A[i + r]) / 5  # {
    schedule wide for c, avx2, avx512 { B.update.vectorize(i, 8) }
    example { N = 37; A = random(1) }
}

kernel remainder {
    size   H, W
    param  by: i32 = 7
    table  weights_of_rows: i32[3] = [5, 0, 2]
    input  A: i32[H, W]
    output B: i32[H, W]
    B[y, x] = scaled(A[y, x]) % by + weights_of_rows[y % 3] * weights[x % 3]
    schedule wide for c, avx2, avx512 { B.vectorize(x, 8) }
    example { H = 3; W = 19; A = random(1) }
}
"""
MAIN = """
#include "pair.h"
#include <stdio.h>
int main(void)
{
    static int32_t a[42], b[40], c[42];
    if (fread(a, sizeof a, 1, stdin) != 1)
        return 1;
    if (smooth(40, a, b) != smooth_OK || remainder_of(6, 7, a, c) != remainder_of_OK)
        return 2;
    fwrite(b, sizeof b, 1, stdout);
    fwrite(c, sizeof c, 1, stdout);
    return remainder_of(-1, 7, a, c) == remainder_of_SIZE_H ? 0 : 3;
}
"""
FEATURED = [n for n in ("c", "avx2", "avx512", "arm_dot") if can_run(TARGETS[n])]


@pytest.fixture
def pair(tmp_path: Path) -> Path:
    file = tmp_path / "pair.hb"
    # `remainder` alone is a function of C.
    file.write_text(FILE.replace("kernel remainder", "kernel remainder_of"), encoding="ascii")
    return file


def expected(a: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """By NumPy: wraps as the language does, quotients and remainders round down."""
    n = len(a) - 2
    with np.errstate(over="ignore"):
        smooth = sum(((w * a[r : r + n]) * np.int32(3)) // 5 for r, w in enumerate((1, 2, 1)))
        rows = a.reshape(6, 7)
        rest = (rows * np.int32(3)) % 7
    by_row, by_column = np.array([5, 0, 2]), np.array([1, 2, 1])
    rest = rest + by_row[np.arange(6) % 3][:, None] * by_column[np.arange(7) % 3]
    return np.asarray(smooth, np.int32), rest.astype(np.int32)


def given(seed: int) -> np.ndarray[Any, Any]:
    limits = np.iinfo(np.int32)
    return np.random.default_rng(seed).integers(limits.min, limits.max, 42, np.int32, endpoint=True)


@pytest.mark.parametrize("target", FEATURED)
def test_one_library_and_both_called_from_c(
    hbc: Command, pair: Path, tmp_path: Path, target: str
) -> None:
    done = hbc("compile", pair, "--target", target, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    folder = tmp_path / "out"
    assert sorted(f.name for f in folder.iterdir()) == ["pair.c", "pair.h"]
    text = (folder / "pair.c").read_text(encoding="ascii")
    for shared in ("static int64_t measure(", "static bool overlap(", "_weights[3] ="):
        assert text.count(shared) == 1, shared
    (folder / "main.c").write_text(MAIN, encoding="ascii")
    flags = [*OPTIONS, *TARGETS[target].flags, "-Wall", "-Wextra", "-Werror"]
    command = [*find_compiler().command, *flags, "pair.c", "main.c", "-o", "main", "-lm"]
    subprocess.run(command, check=True, cwd=folder)
    a = given(7)
    ran = subprocess.run([folder / "main"], input=a.tobytes(), capture_output=True, check=False)
    assert ran.returncode == 0
    made = np.frombuffer(ran.stdout, np.int32)
    smooth, rest = expected(a)
    np.testing.assert_array_equal(made[:40], smooth)
    np.testing.assert_array_equal(made[40:].reshape(6, 7), rest)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="targets of x86-64")
def test_two_files_for_several_targets(hbc: Command, pair: Path, tmp_path: Path) -> None:
    more = tmp_path / "more.hb"
    more.write_text(
        "size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = A[i] + 0.5\n", encoding="ascii"
    )
    folder = tmp_path / "lib"
    done = hbc("compile", pair, more, "--targets", "c,avx2,avx512", "-o", folder, "--emit", "so",
               "--emit", "c", "--json")  # fmt: skip
    assert done.code == 0, done.err
    said = json.loads(done.out)
    assert said["kernel"] == "lib"
    assert said["kernels"] == ["smooth", "remainder_of", "more"]
    assert said["targets"] == ["avx512", "avx2", "c"]
    assert {"lib.c", "lib.h", "lib_avx2.c", "lib.so"} <= {f.name for f in folder.iterdir()}
    library = ctypes.CDLL(str(folder / "lib.so"))
    pointer, size = ctypes.c_void_p, ctypes.c_int64
    a, b, c = given(8), np.empty(40, np.int32), np.empty((6, 7), np.int32)
    x, y = np.random.default_rng(1).random(33, np.float32), np.empty(33, np.float32)
    of = lambda array: pointer(array.ctypes.data)  # noqa: E731
    assert library.smooth(size(40), of(a), of(b)) == 0
    assert library.remainder_of(size(6), size(7), of(a), of(c)) == 0
    assert library.more(size(33), of(x), of(y)) == 0
    smooth, rest = expected(a)
    np.testing.assert_array_equal(b, smooth)
    np.testing.assert_array_equal(c, rest)
    np.testing.assert_array_equal(y, x + np.float32(0.5))
    library.smooth_target.restype = library.more_target.restype = ctypes.c_char_p
    assert library.smooth_target() in (b"avx512", b"avx2", b"c")


@pytest.mark.parametrize("command", ["run", "verify", "explain", "compile"])
def test_the_one_that_is_named(hbc: Command, pair: Path, tmp_path: Path, command: str) -> None:
    more = ["-o", tmp_path / "o", "--emit", "loops"] if command == "compile" else []
    done = hbc(command, pair, "--kernel", "smooth", "--target", "c", *more)
    assert done.code == 0, done.err
    wrong = hbc(command, pair, "--kernel", "smoth")
    assert wrong.code == 2
    assert wrong.err == f"error: no kernel `smoth` in `{pair}`\nhint: did you mean `smooth`?\n"


@pytest.mark.parametrize("command", ["run", "verify", "bench", "explain", "inspect", "tune"])
def test_it_must_be_said_which(hbc: Command, pair: Path, command: str) -> None:
    done = hbc(command, pair)
    assert done.code == 2
    assert done.err == (
        f"error: `{pair}` has 2 kernels\n"
        "hint: say which, such as `--kernel smooth`: the file has `smooth`, `remainder_of`\n"
    )


def test_a_file_of_one_kernel_may_be_named_too(hbc: Command, tmp_path: Path) -> None:
    file = tmp_path / "alone.hb"
    file.write_text("size N\noutput B: i32[N]\nB[i] = 1\n", encoding="ascii")
    assert hbc("explain", file, "--kernel", "alone", "--target", "c").code == 0
    done = hbc("explain", file, "--kernel", "other")
    assert (done.code, done.err) == (
        2,
        f"error: no kernel `other` in `{file}`\nhint: its kernel is `alone`\n",
    )


def test_settings_go_to_those_that_know_them(hbc: Command, pair: Path, tmp_path: Path) -> None:
    sides = []
    for settings in ([], ["--set", "by=5"], ["--set", "gain=11"]):
        done = hbc("compile", pair, "--target", "c", *settings, "-o", tmp_path)
        assert done.code == 0, done.err
        text = (tmp_path / "pair.c").read_text(encoding="ascii")
        sides.append(text.split("remainder_of_compute"))
    plain, by, gain = sides
    assert by[0] == plain[0] and by[1] != plain[1], "of one kernel"
    assert gain[0] != plain[0] and gain[1] != plain[1], "of both"
    wrong = hbc("compile", pair, "--target", "c", "--set", "gian=5", "-o", tmp_path)
    assert wrong.code == 2 and "gian" in wrong.err
    assert hbc("check", pair, "--set", "by=5").code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.hb", "b.hb"], "error: the library of several files has no name\n"
         "hint: write --name NAME, or `-o NAME` for a folder of that name\n"),
        (["a.hb", "b.hb", "--kernel", "one"], "error: --kernel is for one file, and there are 2\n"
         "hint: leave --kernel out, or name one file\n"),
        (["a.hb", "c.hb", "--name", "lib"], "c.hb:1:8: error: two kernels of the library are called `one`\n"
         "    kernel one\n           ^~~\na.hb:1:8: note: the other one\n    kernel one {\n           ^~~\n"
         "hint: give one another name\n"),
        (["a.hb", "b.hb", "--name", "lib"], "error: kernels `one` and `one_strided` cannot be in one library:"
         " both have `one_strided` in C\nhint: give `one_strided` another name\n"),
        (["c.hb", "--name", "lib"], "error: --name is for a library of several kernels\n"),
        (["a.hb", "--target", "cuda"], "error: a library of several kernels is for processors\n"
         "hint: compile each by itself: `--kernel NAME` says which of a file\n"),
        (["a.hb", "--emit", "ir"], "error: of several kernels or targets there is no form `ir`\n"
         "hint: use --emit with one of: c, so, a\n"),
        (["a.hb", "--schedule", "fast"], "error: --schedule names one schedule for all of several kernels or"
         " targets\n"
         "hint: leave --schedule out: each takes its own of the file, or `auto`\n"),
        (["a.hb", "--write"], "error: several kernels do not go with --write\n"
         "hint: use --write for each kernel by itself\n"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(
    hbc: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    message: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    body = "size N\noutput B: i32[N]\nB[i] = 1\n"
    Path("a.hb").write_text(f"kernel one {{\n{body}}}\nkernel two {{\n{body}}}\n", encoding="ascii")
    Path("b.hb").write_text(f"kernel one_strided\n{body}", encoding="ascii")
    Path("c.hb").write_text(f"kernel one\n{body}", encoding="ascii")
    if "cuda" not in arguments:
        arguments = [*arguments, "--target", "c"]
    done = hbc("compile", *arguments)
    said = "".join(n for n in done.err.splitlines(keepends=True) if not n.startswith("note: "))
    assert (done.code != 0, said) == (True, message)


def test_python(pair: Path) -> None:
    a = given(9)
    smooth, rest = expected(a)
    one = api.compile(pair, kernel="smooth")
    np.testing.assert_array_equal(one(A=a), smooth)
    other = api.compile(pair.read_text(encoding="ascii"), kernel="remainder_of")
    np.testing.assert_array_equal(other(A=a.reshape(6, 7)), rest)
    with pytest.raises(UsageError, match=r'say which, such as `kernel="smooth"`'):
        api.compile(pair)


def test_a_schedule_is_written_into_its_kernel(hbc: Command, pair: Path) -> None:
    done = hbc(
        "compile", pair, "--kernel", "smooth", "--target", "c", "--schedule", "auto", "--write"
    )
    assert done.code == 0, done.err
    text = pair.read_text(encoding="ascii")
    assert hbc("check", pair).code == 0
    first, second = text.split("kernel remainder_of")
    assert "schedule auto_c" in first
    assert second == FILE.split("kernel remainder")[1]


def test_formatted(pair: Path) -> None:
    text = pair.read_text(encoding="ascii")
    cramped = text.replace("\n    ", "\n").replace("kernel smooth {\n", "kernel smooth {")
    assert format_source(Source("pair.hb", cramped)) == format_source(Source("pair.hb", text))
    made = format_source(Source("pair.hb", text))
    assert "kernel smooth {\n    size   N\n" in made
    assert format_source(Source("pair.hb", made)) == made


def test_alone_is_as_long_as_the_file(pair: Path) -> None:
    source = Source("pair.hb", pair.read_text(encoding="ascii"))
    part = alone(source, "remainder_of")
    assert len(part.text) == len(source.text)
    assert part.text.count("\n") == source.text.count("\n")
    assert "smooth" not in part.text and "scaled" in part.text
    line = source.text[: source.text.index("kernel remainder_of")].count("\n") + 1
    assert part.line(line) == "kernel remainder_of {"
