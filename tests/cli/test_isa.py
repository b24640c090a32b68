"""Pins --isa: instructions that the user describes are selected, verified and printed."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from hbc.codegen.build.processor import runs_here
from hbc.ir.lang.target import TARGETS

Command = Callable[..., Any]

BYTES = """
kernel bytes
size   M, N, K
input  A: u8[M, K]
input  B: i8[K / 4, N, 4]
output C: i32[M, N]
require K % 4 == 0, "groups of four rows"
reduce k in K
acc[i, j]  = 0
acc[i, j] += i32(A[i, k]) * i32(B[k / 4, j, k % 4])
C[i, j]    = acc[i, j]
schedule lanes for avx512 {
    C.tile(i, j, io, jo, ii, ji, 4, 16, tail = exact).vectorize(ji, 16).unroll(ii)
    acc.compute_at(C, jo).store_in(registers).vectorize(j, 16).unroll(i)
    acc.update.split(k, ko, ki, 4, tail = exact).reorder(ko, i, j, ki)
    acc.update.atomic().vectorize(j, 16).vectorize(ki).unroll(i)
}
example { M = 8; N = 32; K = 16; A = random(1); B = random(2) }
"""
MINE = """
instruction my_dot(c: i32[16], a: u8[16, 4], b: i8[16, 4]) in zmm {
    reduce q in 4
    c[l] += i32(a[l, q]) * i32(b[l, q])
}
emit "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});"
cost { latency 1; per_cycle 8 }
needs FEATURES
"""
SWIRL = """
feature swirl { machine x86_64; cpuinfo "swirl"; flag ""; probe { leaf 26; register eax; bit 31 } }
target swirls "made up" uses avx512f, avx512vnni, swirl
"""


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    path = tmp_path / "bytes.hb"
    path.write_text(BYTES, encoding="utf-8")
    return path


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.hb"
    path.write_text(MINE.replace("FEATURES", "avx512f, avx512vnni"), encoding="utf-8")
    return path


def printed(hbc: Command, kernel: Path, *options: str | Path) -> str:
    done = hbc("compile", kernel, "-o", kernel.parent, *options)
    assert done.code == 0, done.err
    return (kernel.parent / "bytes.c").read_text(encoding="utf-8")


def test_a_described_instruction_is_used(hbc: Command, kernel: Path, mine: Path) -> None:
    assert "execute_my_dot(" in printed(hbc, kernel, "--target", "avx512vnni", "--isa", mine)


def test_without_the_file_it_is_not(hbc: Command, kernel: Path) -> None:
    assert "execute_vpdpbusd_zmm(" in printed(hbc, kernel, "--target", "avx512vnni")


def test_it_is_verified(hbc: Command, kernel: Path, mine: Path) -> None:
    native = [] if runs_here(TARGETS["avx512vnni"]) else ["--no-native"]
    options = ("--target", "avx512vnni", "--isa", mine, "--trials", "2", "--json", *native)
    done = hbc("verify", kernel, *options)
    assert done.code == 0, done.err
    assert json.loads(done.out)["ok"]


def test_features_that_the_target_lacks(hbc: Command, kernel: Path, mine: Path) -> None:
    """AVX-512 in general has no dot products."""
    assert "my_dot" not in printed(hbc, kernel, "--target", "avx512", "--isa", mine)


def test_features_of_its_own(hbc: Command, kernel: Path, tmp_path: Path) -> None:
    """A target in the file says which features may be used; the code asks the processor for them."""
    path = tmp_path / "swirl.hb"
    text = SWIRL + MINE.replace("FEATURES", "avx512f, avx512vnni, swirl")
    path.write_text(text, encoding="utf-8")
    code = printed(hbc, kernel, "--target", "avx512vnni", "--isa", path)
    assert "execute_my_dot(" in code
    assert "{bytes_FEATURE_swirl, 26, 0, 0, 31, 0x0}," in code
    if runs_here(TARGETS["avx512vnni"]):
        done = hbc("run", kernel, "--target", "avx512vnni", "--isa", path)
        assert done.code == 4
        assert "`bytes` cannot run: this processor has no swirl" in done.err


def test_explain_names_it(hbc: Command, kernel: Path, mine: Path) -> None:
    done = hbc("explain", kernel, "--target", "avx512vnni", "--isa", mine)
    assert done.code == 0
    assert "my_dot" in done.out


def test_mistakes_in_the_file(hbc: Command, kernel: Path, tmp_path: Path) -> None:
    path = tmp_path / "wrong.hb"
    path.write_text(MINE.replace("FEATURES", "avx513"), encoding="utf-8")
    done = hbc("compile", kernel, "--target", "avx512vnni", "--isa", path, "-o", tmp_path)
    assert done.code == 1
    assert "there is no feature `avx513`" in done.err


@pytest.mark.usefixtures("without_avx512")
@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ('emit asm "vpdpbusd {b}, {a}, {c}"', "no `vpdpbusd`, which is assembly"),
        (
            'emit "{c} = _mm512_frob_epi32({c}, {a}, {b});"',
            "no `_mm512_frob_epi32`, and no function for it is known",
        ),
    ],
)
def test_what_no_function_stands_for(
    hbc: Command, kernel: Path, tmp_path: Path, wrong: str, said: str
) -> None:
    path = tmp_path / "other.hb"
    right = 'emit "{c} = _mm512_dpbusd_epi32({c}, {a}, {b});"'
    text = MINE.replace("FEATURES", "avx512f, avx512vnni").replace(right, wrong)
    path.write_text(text, encoding="utf-8")
    done = hbc("run", kernel, "--target", "avx512vnni", "--isa", path)
    assert done.code == 4
    assert said in done.err


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
def test_what_the_c_compiler_refuses(
    hbc: Command, kernel: Path, tmp_path: Path, compiler: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The user's text is at fault, at its line; not hbc."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    monkeypatch.setenv("CC", compiler)
    path = tmp_path / "typed.hb"
    text = MINE.replace("FEATURES", "avx512f, avx512vnni")
    path.write_text(text.replace("_mm512_dpbusd_epi32(", "my_frob("), encoding="utf-8")
    options = ("--target", "avx512vnni", "--isa", path, "--emit", "so", "-o", tmp_path)
    done = hbc("compile", kernel, *options)
    first, line, caret, hint = done.err.rstrip("\n").splitlines()
    assert done.code == 1
    assert first.startswith(
        f"{path}:6:1: error: the C compiler refuses what is printed for `my_dot`, "
        "`c = my_frob(c, a, b);`: implicit declaration of function "
    )
    assert "my_frob" in first.rpartition("function")[2] and "[-W" not in first
    assert line == '    emit "{c} = my_frob({c}, {a}, {b});"'
    assert caret == f"    ^{'~' * (len(line) - 5)}"
    assert hint == (
        "hint: mend the template: it may use what <immintrin.h> declares for avx512f, avx512vnni, on "
        "operands of type `__m512i`; `hbc compile --emit c` writes the whole text"
    )
