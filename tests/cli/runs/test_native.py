"""Pins that compiled code is called right, and that its crash is a message of ours."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbc.cli.runs.native import Native, Repeat, as_words
from hbc.cli.runs.strides import gather_rows, spread
from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.diag import HbcError, InternalError, ToolError
from hbc.ir.lang.types import F32, I32

LIBRARY = r"""
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

int twice(int64_t n, const float *a, float *b) {
    for (int64_t i = 0; i < n; i++) b[i] = 2 * a[i];
    return 0;
}
int twice_strided(int64_t m, int64_t n, const float *a, int64_t sa, float *b, int64_t sb) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) b[i * sb + j] = 2 * a[i * sa + j];
    return 0;
}
const char *twice_strerror(int code) { (void)code; return "no"; }

int late_strided(int64_t m, int64_t n, const float *a, int64_t sa, float *b, int64_t sb) {
    return twice_strided(m, n + 1, a, sa, b, sb);
}
int nothing(int64_t n, int32_t *b) { (void)n; (void)b; return 0; }
int refuses(int64_t n) { return n == 3 ? 7 : 0; }
const char *refuses_strerror(int code) { return code == 7 ? "three is too many" : "?"; }
int reads_behind(int64_t n, const float *a, float *b) { b[0] = a[n]; return 0; }
int writes_behind(int64_t n, const float *a, float *b) { b[n] = a[0]; return 0; }
int writes_input(int64_t n, float *a, float *b) { (void)b; a[n - 1] = 1; return 0; }
int aborts(int64_t n) { (void)n; abort(); }
int exits(int64_t n) { exit((int)n); }
int sleeps(int64_t n) { sleep((unsigned)n); return 0; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        compiler = find_compiler()
    except ToolError as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("native")
    (folder / "lib.c").write_text(LIBRARY)
    out = folder / "lib.so"
    arguments = [*compiler.command, "-shared", "-fPIC", str(folder / "lib.c"), "-o", str(out)]
    subprocess.run(arguments, check=True)
    return out


@pytest.fixture
def native(library: Path) -> Iterator[Native]:
    with Native(library, 1, 60) as opened:
        yield opened


A = np.arange(5, dtype=np.float32)


@pytest.mark.parametrize("guarded", [False, True])
def test_arrays_go_in_and_come_out(native: Native, guarded: bool) -> None:
    for _ in range(2):
        called = native.call("twice", [5], {"a": A}, {"b": ((5,), F32)}, guarded=guarded)
        assert called.outputs["b"].tolist() == (2 * A).tolist()
        assert len(called.seconds) == 1


def test_empty_arrays(native: Native) -> None:
    called = native.call("twice", [0], {"a": A[:0]}, {"b": ((0,), F32)}, guarded=True)
    assert called.outputs["b"].shape == (0,)


def test_rows_that_lie_apart(native: Native) -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    called = native.call("twice", [2, 3], {"a": a}, {"b": ((2, 3), F32)}, lengthen={"a": 1, "b": 1})
    assert called.outputs["b"].tolist() == (2 * a).tolist()


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_any_dimension_may_be_longer(dim: int) -> None:
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    kept, rest = gather_rows(spread(a, dim), dim)
    assert np.array_equal(kept, a)
    assert np.isnan(rest).all()
    assert kept.size + rest.size == spread(a, dim).size


def test_writing_between_rows_is_found(native: Native) -> None:
    a = np.arange(6, dtype=np.float32).reshape(2, 3)
    with pytest.raises(InternalError, match="wrote between the rows of `b`"):
        native.call("late", [2, 3], {"a": a}, {"b": ((2, 3), F32)}, lengthen={"a": 1, "b": 1})


def test_outputs_are_poisoned_anew(native: Native) -> None:
    first, second = (
        native.call("nothing", [2], {}, {"b": ((2,), I32)}).outputs["b"].tolist() for _ in range(2)
    )
    assert first != second
    assert 0 not in (*first, *second)


def test_repeats(native: Native) -> None:
    repeat = Repeat(warmups=1, least=4, seconds=0, most=9)
    called = native.call("twice", [5], {"a": A}, {"b": ((5,), F32)}, repeat)
    assert len(called.seconds) == 4
    assert 0 < min(called.seconds) < 1


@pytest.mark.parametrize("own", [False, True])
def test_a_call_takes_what_its_thread_ran(native: Native, own: bool) -> None:
    (took,) = native.call("sleeps", [1], {}, {}, Repeat(own=own)).seconds
    assert (took < 0.5) is own


def test_an_error_code_is_explained(native: Native) -> None:
    with pytest.raises(HbcError, match="`refuses` refused its arguments: three is too many"):
        native.call("refuses", [3], {}, {})
    native.call("refuses", [4], {}, {})


@pytest.mark.parametrize("function", ["reads_behind", "writes_behind", "writes_input"])
def test_guards_catch_what_nobody_would_see(library: Path, function: str) -> None:
    def call(guarded: bool) -> None:
        with Native(library, 1, 60) as native:
            native.call(function, [5], {"a": A}, {"b": ((5,), F32)}, guarded=guarded)

    call(False)
    with pytest.raises(InternalError, match=f"the compiled `{function}` crashed with SIGSEGV"):
        call(True)


def test_an_abort_is_a_bug(native: Native) -> None:
    with pytest.raises(InternalError, match="the compiled `aborts` crashed with SIGABRT"):
        native.call("aborts", [1], {}, {})


def test_an_exit_is_a_bug(native: Native) -> None:
    with pytest.raises(InternalError, match="the process running `exits` ended with code 5"):
        native.call("exits", [5], {}, {})


def test_a_hang_ends(library: Path) -> None:
    with (
        Native(library, 1, 0.5) as native,
        pytest.raises(HbcError, match=r"did not finish within 0.5 s\nhint: --timeout"),
    ):
        native.call("sleeps", [60], {}, {})


def test_a_library_that_cannot_be_loaded(tmp_path: Path) -> None:
    (tmp_path / "lib.so").write_text("no library")
    with (
        Native(tmp_path / "lib.so", 1, 60) as native,
        pytest.raises(ToolError, match="the compiled library cannot be loaded"),
    ):
        native.call("f", [], {}, {})


def test_waiting_threads_sleep_unless_the_user_says_otherwise(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a busy machine a thread that spins keeps the one it waits for from the processor."""
    seen: list[dict[str, str]] = []
    real = subprocess.Popen

    def spy(*arguments: Any, **options: Any) -> Any:
        seen.append(options["env"])
        return real(*arguments, **options)

    monkeypatch.setattr("hbc.cli.runs.native.subprocess.Popen", spy)
    for said, wanted in ((None, "passive"), ("active", "active")):
        monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
        if said is not None:
            monkeypatch.setenv("OMP_WAIT_POLICY", said)
        with Native(tmp_path / "none.so", 2, 10.0):
            pass
        assert (seen[-1]["OMP_WAIT_POLICY"], seen[-1]["OMP_NUM_THREADS"]) == (wanted, "2")


@pytest.mark.parametrize(
    ("element", "data", "words"),
    [
        ("f32", np.float32(1), f"f {0x3F800000 - (1 << 32)}"),
        ("f64", np.float64(-2), "f -4611686018427387904"),
        ("u32", np.uint32(0xFFFFFFFE), "i -2"), ("i16", np.int16(-3), "i -3"),
        ("u8", np.uint8(255), "i 255"), ("f16", np.float16(1), "i 15360"),
    ],
)  # fmt: skip
def test_scalars_as_registers_of_other_machines_hold_them(
    element: str, data: np.generic, words: str
) -> None:
    scalar = {"scalar": (element, data.tobytes().hex()), "load": None, "save": None, "fill": None}
    request = {"function": "f", "sizes": [], "arrays": [{**scalar, "strides": [], "bytes": 4}]}
    text = as_words({**request, "repeat": {}, "guarded": False})
    assert text == f"f 0 1 {words} 0"
