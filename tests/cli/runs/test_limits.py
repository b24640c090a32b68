"""Pins what compiled code may take of the machine, and that it says so when it takes more."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from hbc.cli.runs.limits import Limits, limits_of_calls
from hbc.cli.runs.native import Native
from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.diag import HbcError, ToolError, UsageError

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are set on Linux")

LIBRARY = r"""
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
int allocates(int64_t n) { void *p = malloc((size_t)n << 20); int r = p ? 0 : 1; free(p); return r; }
const char *allocates_strerror(int code) { (void)code; return "no memory"; }
int spins(int64_t n) { for (volatile int64_t i = 0;; i++) if (n < 0) return 0; }
int writes(int64_t n) {
    FILE *f = fopen("/dev/shm/hbc-limit-test", "wb");
    if (!f) f = tmpfile();
    remove("/dev/shm/hbc-limit-test");
    int failed = 0;
    for (int64_t i = 0; i < n << 10 && !failed; i++) failed = fwrite("x", 1, 1, f) != 1;
    failed |= fclose(f) != 0;
    return failed;
}
const char *writes_strerror(int code) { (void)code; return "file too large"; }
int opens(int64_t n) {
    for (int64_t i = 0; i < n; i++)
        if (open("/dev/null", O_RDONLY) < 0) return 1;
    return 0;
}
const char *opens_strerror(int code) { (void)code; return "too many files"; }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        compiler = find_compiler()
    except ToolError as missing:
        pytest.skip(str(missing))
    folder = tmp_path_factory.mktemp("limits")
    (folder / "lib.c").write_text(LIBRARY)
    out = folder / "lib.so"
    arguments = [*compiler.command, "-shared", "-fPIC", str(folder / "lib.c"), "-o", str(out)]
    subprocess.run(arguments, check=True)
    return out


@pytest.fixture
def native(library: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Native]:
    monkeypatch.setenv("HBC_LIMITS", "memory=1G,seconds=2,file=64K,files=40")
    with Native(library, 1, 100) as opened:
        yield opened


@pytest.mark.parametrize(
    ("function", "little", "much", "said"),
    [
        ("allocates", 10, 4096, "no memory"),
        ("writes", 10, 100_000, "file too large"),
        ("opens", 10, 60, "too many files"),
    ],
)
def test_limits(native: Native, function: str, little: int, much: int, said: str) -> None:
    native.call(function, [little], {}, {})
    with pytest.raises(HbcError, match=said):
        native.call(function, [much], {}, {})


def test_processor_time(native: Native) -> None:
    with pytest.raises(HbcError, match=r"`spins` took more than 2 s of processor time"):
        native.call("spins", [1], {}, {})


def test_the_usual_ones_leave_kernels_alone(library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HBC_LIMITS", raising=False)
    with Native(library, 1, 100) as native:
        native.call("allocates", [1024], {}, {})
        native.call("opens", [60], {}, {})


def test_what_is_reserved_is_not_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """GPU drivers and sanitizers map terabytes."""
    monkeypatch.delenv("HBC_LIMITS", raising=False)
    monkeypatch.setenv("LD_PRELOAD", "/usr/lib/gcc/x/libasan.so /usr/lib/libubsan.so")
    assert limits_of_calls(1, 1).reserves
    monkeypatch.delenv("LD_PRELOAD")
    assert not limits_of_calls(1, 1).reserves
    assert limits_of_calls(1, 1, gpu=True).reserves


def test_overrides(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HBC_LIMITS", "none")
    assert limits_of_calls(1, 1) == Limits(None, None, None, None)
    monkeypatch.setenv("HBC_LIMITS", "memory=none, seconds=7,file=2K")
    found = limits_of_calls(1, 1)
    assert (found.memory, found.seconds, found.file) == (None, 7, 2048)


@pytest.mark.parametrize(
    "text", ["memory", "memory=", "memory=0", "memory=-1", "speed=3", "memory=8X"]
)
def test_what_says_nothing(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("HBC_LIMITS", text)
    with pytest.raises(UsageError, match="says no limits"):
        limits_of_calls(1, 1)
