"""What happens around a kernel while it is loaded: files change, the cache goes or cannot be used, processes
fork, others start at once, arrays are let go."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hbc

SCALE = """import "factor.hb"
size N
input A: f32[N]
output O: f32[N]
O[i] = A[i] * factor(i)
"""
SLOW = """
size N, K
input A: f32[N]
output O: f32[N]
reduce k in K
O[i] = 0
O[i] += A[i] / (f32(k) + 1)
"""
PROGRAM = """
import sys
import numpy as np
import hbc

kernel = hbc.compile("size N\\ninput A: i32[N]\\noutput O: i32[N]\\nO[i] = A[i] * 3 + i32(i)\\n", target="c")
a = np.arange(100, dtype=np.int32) * int(sys.argv[1])
assert (kernel(a) == a * 3 + np.arange(100)).all()
print("right")
"""


@pytest.fixture
def kernel_file(tmp_path: Path) -> Path:
    file = tmp_path / "scale.hb"
    file.write_text(SCALE)
    (tmp_path / "factor.hb").write_text("def factor(i) = 2\n")
    return file


@pytest.mark.parametrize("changed", ["scale.hb", "factor.hb"])
def test_a_file_that_changes_while_its_kernel_is_loaded(kernel_file: Path, changed: str) -> None:
    """A kernel stays what it was, and so do the answers about it; a new one is of the new text."""
    a = np.arange(10, dtype=np.float32)
    old = hbc.compile(kernel_file, target="c")
    np.testing.assert_array_equal(old(a), a * 2)
    file = kernel_file.with_name(changed)
    file.write_text(
        file.read_text().replace("factor(i)\n", "factor(i) + 1\n").replace("= 2", "= 3")
    )
    new = hbc.compile(kernel_file, target="c")
    for _ in range(2):
        np.testing.assert_array_equal(old(a), a * 2)
        np.testing.assert_array_equal(new(a), a * 2 + 1 if changed == "scale.hb" else a * 3)
    file.unlink()
    for kernel in (old, new):
        assert kernel.verify(trials=1).trials
        assert kernel.loops and kernel.explain() and kernel._repr_html_()


def test_a_cache_that_is_cleared_while_a_kernel_is_loaded(
    kernel_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "cache"))
    a = np.arange(10, dtype=np.float32)
    first = hbc.compile(kernel_file, target="c")
    assert (first(a) == a * 2).all()
    shutil.rmtree(tmp_path / "cache")
    assert (first(a) == a * 2).all()
    assert (hbc.compile(kernel_file, target="c")(a) == a * 2).all()


def test_a_cache_that_cannot_be_used(
    kernel_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such as HBC_CACHE=/dev/full: the code is built in a folder of this process."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "file"))
    a = np.arange(10, dtype=np.float32)
    for _ in range(2):
        assert (hbc.compile(kernel_file, target="c")(a) == a * 2).all()
    assert (tmp_path / "file").read_text() == "in the way"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_kernels_go_on_after_a_fork(tmp_path: Path) -> None:
    """One that was loaded before, and one that each compiles after it, at once."""
    program = """
import os, sys
import numpy as np
import hbc

text = "size N\\ninput A: f32[N]\\noutput O: f32[N]\\nO[i] = A[i] * "
a = np.arange(1000, dtype=np.float32)
before = hbc.compile(text + "2\\n", target="c")
assert (before(a) == a * 2).all()
child = os.fork()
for _ in range(100):
    assert (before(a) == a * 2).all()
    assert (before(A=a[: 10 + (child == 0)]) == a[: 10 + (child == 0)] * 2).all()
after = hbc.compile(text + "5\\n", target="c")
assert (after(a) == a * 5).all()
if child == 0:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
assert (before(a) == a * 2).all()
"""
    environment = os.environ | {"HBC_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, timeout=120,
        check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_two_interpreters_at_once(tmp_path: Path) -> None:
    """Each finds no cache, and both fill it."""
    environment = os.environ | {"HBC_CACHE": str(tmp_path / "cache")}
    running = [
        subprocess.Popen(
            [sys.executable, "-c", PROGRAM, str(n)], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for n in (5, 7)
    ]  # fmt: skip
    for one in running:
        out, err = one.communicate(timeout=120)
        assert (one.returncode, out) == (0, "right\n"), err
    assert not [p.name for p in (tmp_path / "cache").iterdir() if p.name.startswith(".")]


@pytest.mark.parametrize("named", [False, True])
def test_arrays_that_others_let_go_live_until_the_call_returns(named: bool) -> None:
    kernel = hbc.compile(SLOW, target="c", schedule="none").build()
    held: dict[str, Any] = {"A": np.ones(64, np.float32), "out": [np.empty(64, np.float32)]}
    seen = [weakref.ref(held["A"]), weakref.ref(held["out"][0])]
    outs, result = held["out"], list[Any]()

    def work() -> None:
        if named:
            result.append(kernel(A=held.pop("A"), out=held.pop("out"), K=20_000_000))
        else:
            result.append(kernel(held.pop("A"), out=held.pop("out"), K=20_000_000))

    thread = threading.Thread(target=work)
    thread.start()
    while held:
        time.sleep(0.001)
    outs.clear()  # by somebody else, while the code writes to what was in it
    time.sleep(0.02)
    if thread.is_alive():
        assert seen[0]() is not None and seen[1]() is not None
    thread.join()
    np.testing.assert_allclose(result[0], np.full(64, 17.39), rtol=0.2)
    assert seen[0]() is None
    result.clear()
    assert seen[1]() is None


def test_one_compiled_before_is_loaded_without_the_compiler(tmp_path: Path) -> None:
    """The second start imports little beside Python and NumPy: the rest is imported where it is wanted."""
    program = (
        "import sys, hbc\n"
        "kernel = hbc.compile('size N\\ninput A: f32[N]\\noutput B: f32[N]\\nB[i] = A[i]\\n').build()\n"
        "print(*sys.modules)\n"
        "import numpy\n"
        "kernel(numpy.ones(3, numpy.float32))\n"
        "print(*sys.modules)\n"
    )
    environment = {**os.environ, "HBC_CACHE": str(tmp_path / "cache")}
    environment.pop("HBC_MOVEMENTS", None)  # nor does it ask where a user's own library may lie
    runs = [
        subprocess.run(
            [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True
        )
        for _ in range(2)
    ]  # fmt: skip
    first, second = (set(run.stdout.split()) for run in runs)
    assert "numpy" not in runs[1].stdout.splitlines()[0].split()  # before the first call
    compiler = {"hbc.ir.algebra.simplify", "hbc.frontend.text.parse", "lark", "tempfile"}
    assert compiler <= first
    assert not compiler & second
    # A note that no handler can hear, tensor instructions that the kernel has none of.
    assert not {"logging", "platformdirs", "click", "hbc.ir.lang.instruction"} & second
