"""Times functions of f32 vectors beside SLEEF (Debian's libsleef-dev) and torch, in turns, on one thread.

python functions.py [--targets NAME...] [--peer-python PYTHON]      (see functions.sh)

`--peer-python`: one that has torch and NumPy. Errors are the greatest seen in a sample of all finite floats
for which the function is finite, in units in the last place, beside f64.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
N = 4096  # elements: input and output in the first cache
ROUNDS, BATCH = 41, 2e-3  # rounds, and seconds of calls in each
RANGES = {"exp": (-20, 20), "exp2": (-20, 20), "log": (1e-3, 1e3), "sin": (-30, 30), "cos": (-30, 30),
          "tanh": (-4, 4)}  # fmt: skip
EXACT: dict[str, Callable[[NDArray[np.float64]], NDArray[np.float64]]] = {
    name: getattr(np, name) for name in RANGES
}
KERNEL = """\
kernel hbc_{name}
size N
input A: f32[N]
output B: f32[N]
B[x] = {name}(A[x])
schedule lanes for avx2, avx512 {{ B.vectorize(x, 64) }}
"""
# Vectors of SLEEF, with one unit in the last place at most, as libraries call them.
SLEEF = """\
#include <immintrin.h>
#include <sleef.h>
#include <stdint.h>
int32_t sleef_{name}(int64_t n, const float *a, float *b) {{
    int64_t x = 0;
    for (; x + {lanes} <= n; x += {lanes})
        _mm{bits}_storeu_ps(b + x, Sleef_{name}f{lanes}_u10{suffix}(_mm{bits}_loadu_ps(a + x)));
    return x == n ? 0 : 1;
}}
"""
FORMS = {"avx2": ("8", "256", "avx2"), "avx512": ("16", "512", "avx512f")}
_AVX2 = ["-mavx2", "-mfma", "-mf16c", "-mbmi2"]
_AVX512 = ["-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl", *_AVX2]
FLAGS = {"avx2": _AVX2, "avx512": _AVX512}
HEAD = """\
| function | target | hbc ns | SLEEF ns | torch ns | SLEEF / hbc | torch / hbc | error | SLEEF's |
|---|---|---|---|---|---|---|---|---|"""
REPEAT = """
#include <stdint.h>
void repeat(long times, int32_t (*f)(int64_t, void *, void *), int64_t n, void *a, void *b) {
    while (times--)
        f(n, a, b);
}
"""
TORCH = """
import json, sys, time
import torch
torch.set_num_threads(1)
for line in sys.stdin:
    name, low, high, n, batch = json.loads(line)
    if name == "softmax":
        a = torch.rand(512, 1024) * 16 - 8
        out = torch.empty_like(a)
        call = lambda: torch.softmax(a, 1, out=out)
    else:
        a = torch.rand(n) * (high - low) + low
        out, f = torch.empty(n), getattr(torch, name)
        call = lambda: f(a, out=out)
    times, begin = 0, time.thread_time()
    while (passed := time.thread_time() - begin) < batch:
        for _ in range(8):
            call()
        times += 8
    print(passed / times, flush=True)
"""
"""Python's call and torch's own choice of a kernel are in it: some 0.8 us."""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--targets", nargs="*", default=list(FORMS))
    parser.add_argument("--peer-python", help="one that has torch")
    chosen = parser.parse_args()
    print(HEAD)
    with tempfile.TemporaryDirectory() as folder:
        for target in chosen.targets:
            torch = Torch(chosen.peer_python, target)
            for name in RANGES:
                print(row(name, target, torch, Path(folder) / f"{name}_{target}"), flush=True)
            print(softmax_row(target, torch, Path(folder) / f"softmax_{target}"), flush=True)
            torch.end()


class Torch:
    """A process that measures what torch takes with the vectors of a target; none without a Python for it."""

    def __init__(self, python: str | None, target: str) -> None:
        own = {**os.environ, "ATEN_CPU_CAPABILITY": target}
        self.process: subprocess.Popen[str] | None = None
        if python:
            self.process = subprocess.Popen(
                [python, "-c", TORCH], env=own, text=True, stdin=-1, stdout=-1
            )

    def end(self) -> None:
        if self.process:
            self.process.communicate()

    def seconds(self, name: str) -> float | None:
        if self.process is None or self.process.stdin is None or self.process.stdout is None:
            return None
        low, high = RANGES.get(name, (0, 0))
        print(json.dumps([name, low, high, N, BATCH]), file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def row(name: str, target: str, torch: Torch, folder: Path) -> str:
    folder.mkdir()
    kernel = folder / f"{name}.hb"
    kernel.write_text(KERNEL.format(name=name), "utf-8")
    own = compiled(kernel, target, folder)
    lanes, bits, suffix = FORMS[target]
    source = folder / "sleef.c"
    source.write_text(SLEEF.format(name=name, lanes=lanes, bits=bits, suffix=suffix), "utf-8")
    peer = linked(source, folder / "sleef.so", FLAGS[target], "-lsleef")
    functions = {"hbc": getattr(own, f"hbc_{name}"), "sleef": getattr(peer, f"sleef_{name}")}
    source = folder / "repeat.c"
    source.write_text(REPEAT, "utf-8")
    repeat = linked(source, folder / "repeat.so", []).repeat
    a = np.random.default_rng(1).uniform(*RANGES[name], N).astype(np.float32)
    b = np.empty_like(a)
    arguments = [ctypes.c_int64(N), pointer(a), pointer(b)]
    calls = {who: timer(repeat, f, arguments) for who, f in functions.items()}
    times = turns(calls, name, torch)
    errors = [error(name, f) for f in functions.values()]
    return line(name, target, {who: t / N for who, t in times.items()}, errors)


def softmax_row(target: str, torch: Torch, folder: Path) -> str:
    folder.mkdir()
    kernel = Path(__file__).parents[1] / "apps" / "softmax.hb"
    own = compiled(kernel, target, folder).softmax
    a = np.random.default_rng(1).uniform(-8, 8, (512, 1024)).astype(np.float32)
    sizes = [ctypes.c_int64(n) for n in a.shape]
    out = np.empty_like(a)
    arguments = [*sizes, pointer(a), pointer(out)]

    def call(times: int) -> float:
        begin = time.thread_time()
        for _ in range(times):
            own(*arguments)
        return (time.thread_time() - begin) / times

    times = turns({"hbc": call}, "softmax", torch)
    exact = np.exp(np.float64(a))
    np.testing.assert_allclose(out, exact / exact.sum(1, keepdims=True), rtol=1e-5)
    return line("softmax 512 x 1024", target, {who: t / a.size for who, t in times.items()}, [])


def turns(calls: dict[str, Callable[[int], float]], name: str, torch: Torch) -> dict[str, float]:
    """Seconds of a call of each: the medians of rounds in which each is called in turn."""
    times = {who: max(1, int(BATCH / max(call(10), 1e-7))) for who, call in calls.items()}
    found: dict[str, list[float]] = {who: [] for who in calls}
    for _ in range(ROUNDS):
        for who, call in calls.items():
            found[who].append(call(times[who]))
        seconds = torch.seconds(name)
        if seconds is not None:
            found.setdefault("torch", []).append(seconds)
    return {who: median(x) for who, x in found.items()}


def timer(repeat: Any, function: Any, arguments: Sequence[Any]) -> Callable[[int], float]:
    def call(times: int) -> float:
        begin = time.thread_time()
        repeat(ctypes.c_long(times), function, *arguments)
        return (time.thread_time() - begin) / times

    return call


def error(name: str, function: Any) -> float:
    """The greatest, in units in the last place of the exact result, over every 1021st float."""
    bits = np.arange(0, 2**32, 1021).astype(np.uint32)
    x = bits[: len(bits) // 64 * 64].view(np.float32)
    y = np.empty_like(x)
    if function(ctypes.c_int64(len(x)), pointer(x), pointer(y)):
        raise SystemExit(f"{name} failed")
    with np.errstate(all="ignore"):
        exact = EXACT[name](x.astype(np.float64))
        normal = np.isfinite(exact) & (np.abs(exact) < 2.0**128) & (np.abs(exact) >= 2.0**-126)
        if name in ("sin", "cos"):
            normal &= np.abs(x) < 30000
        ulp = 2.0 ** (np.floor(np.log2(np.abs(exact))) - 23)
        return float(np.max(np.abs(np.float64(y) - exact)[normal] / ulp[normal]))


def line(name: str, target: str, seconds: dict[str, float], errors: Sequence[float]) -> str:
    own = seconds["hbc"]
    shown = [f"{seconds[w] * 1e9:.3f}" if w in seconds else "-" for w in ("hbc", "sleef", "torch")]
    shown += [f"{seconds[w] / own:.2f}" if w in seconds else "-" for w in ("sleef", "torch")]
    shown += [f"{e:.2f}" for e in errors] or ["-", "-"]
    return "| " + " | ".join([name, target, *shown]) + " |"


def compiled(kernel: Path, target: str, folder: Path) -> ctypes.CDLL:
    hbc = Path(sys.executable).with_name("hbc")
    command = [str(x) for x in (hbc, "compile", kernel, "--target", target, "-o", folder)]
    subprocess.run(command, check=True, capture_output=True)
    source = next(folder.glob("*.c"))
    exact = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]
    return linked(source, folder / "hbc.so", [*exact, *FLAGS[target]])


def linked(source: Path, library: Path, flags: Sequence[str], *behind: str) -> ctypes.CDLL:
    files = [str(source), "-o", str(library)]
    command = ["gcc", "-O3", *flags, *files, "-shared", "-fPIC", *behind, "-lm"]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(library))


def pointer(x: Floats) -> ctypes.c_void_p:
    return ctypes.c_void_p(x.ctypes.data)


if __name__ == "__main__":
    main()
