"""Times kernels that move elements: hbc's code, plain C by gcc and clang, and Halide, in turns.

python movement.py [--before ../other-checkout] [--kernels NAME...]      (see movement.sh)
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

import numpy as np
from numpy.typing import NDArray
from peers import movement_halide as halide

HERE = Path(__file__).parent

KERNELS = HERE / "movement"
TYPES = {"u8": np.uint8, "i8": np.int8, "i16": np.int16, "f32": np.float32}
# Rows and columns, and what A and B are.
SHAPES = {
    "transpose_f32": (256, 256, "f32 M N", "f32 N M"),
    "transpose_u8": (512, 512, "u8 M N", "u8 N M"),
    "rgb_to_planar": (128, 1024, "u8 M N 3", "u8 3 M N"),
    "planar_to_rgb": (128, 1024, "u8 3 M N", "u8 M N 3"),
    "rgb_to_y": (128, 1024, "u8 M N 3", "u8 M N"),
    "rgb_to_yuv": (128, 1024, "u8 M N 3", "u8 3 M N"),
    "unpack_int4": (128, 1024, "u8 M N", "i8 M N 2"),
    "complex": (64, 512, "f32 M N 2", "f32 M N 2"),
    "reversed_fir": (64, 1024, "i16 M N+3", "i16 M N"),
    "structures": (64, 512, "f32 M N 3", "f32 M N 3"),
    "table_100": (128, 1024, "u8 M N", "u8 M N"),
    "table_256": (128, 1024, "u8 M N", "u8 M N"),
    "table_1024": (128, 1024, "i16 M N", "u8 M N"),
}
PLAIN = {"avx2": ["-mavx2", "-mfma"], "avx512": ["-march=native"], "avx512vbmi": ["-march=native"]}
EXACT = ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math", "-fno-predictive-commoning"]
OWN = {  # as the first lines of hbc's C say
    "avx2": [*EXACT, "-mavx2", "-mfma", "-mf16c", "-mbmi2"],
    "avx512": [
        *EXACT,
        "-mavx512f",
        "-mavx512bw",
        "-mavx512dq",
        "-mavx512vl",
        "-mfma",
        "-mf16c",
        "-mbmi2",
    ],
}
OWN["avx512vbmi"] = [*OWN["avx512"], "-mavx512vbmi"]  # fmt: skip
MOST = {"u8": 256, "i16": 1200}  # what numbers are less than
PAGE, POISON = 4096, 0xA5
ROUNDS, BATCH = 41, 2e-3  # rounds, and seconds of calls in each
Call = tuple[Any, list[Any]]
# Calls in C: those from Python take 50 ns for each argument, and Halide's functions have fewer.
REPEAT = """
#include <stdint.h>
void repeat2(long times, void (*f)(void *, void *), void *a, void *b) {
    while (times--)
        f(a, b);
}
void repeat4(long times, int (*f)(int64_t, int64_t, void *, void *), int64_t m, int64_t n, void *a,
             void *b) {
    while (times--)
        f(m, n, a, b);
}
"""


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path, help="another checkout with its .venv")
    parser.add_argument("--kernels", nargs="*", default=list(SHAPES))
    parser.add_argument("--targets", nargs="*", default=list(PLAIN))
    chosen = parser.parse_args()
    peers = ["gcc", "clang", *(["halide"] if halide.hl else [])]
    before = ["before"] if chosen.before else []
    head = ["kernel", "target", *(f"{who} us" for who in (*before, "now", *peers))]
    head += [*(["before / now"] if before else []), "best other / now"]
    print("| " + " | ".join(head) + " |\n|" + "---|" * len(head))
    gains: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.kernels:
            for target in chosen.targets:
                times = timed(name, target, chosen.before, Path(folder) / f"{name}_{target}", peers)
                now = times["now"]
                ratios = [times["before"] / now] if before else []
                gains += ratios
                best = min(times[peer] for peer in peers) / now
                shown = [f"{t * 1e6:.1f}" for t in times.values()]
                shown += [f"{r:.2f}" for r in (*ratios, best)]
                print("| " + " | ".join([name, target, *shown]) + " |", flush=True)
    if gains:
        print(f"\nGeometric mean of before / now: {geometric_mean(gains):.2f}")


def timed(
    name: str, target: str, before: Path | None, folder: Path, peers: Sequence[str]
) -> dict[str, float]:
    """Seconds of a call of each: the medians of rounds in which each is called in turn. All read one array
    and write another, so that where those lie is the same for all."""
    folder.mkdir()
    rows, columns, of_a, of_b = SHAPES[name]
    a, b = (placed(array(of, rows, columns), at) for of, at in ((of_a, 0), (of_b, PAGE // 2)))
    calls: dict[str, Call] = {}
    source = folder / "repeat.c"
    source.write_text(REPEAT, "utf-8")
    repeat = ctypes.CDLL(str(linked("gcc", source, folder / "repeat.so", [])))
    results: list[NDArray[Any]] = []
    for who, library in libraries(name, target, before, folder, peers).items():
        function = getattr(
            library, {"before": name, "now": name, "halide": "halide"}.get(who, "plain")
        )
        if who == "halide":
            places = [ctypes.byref(halide.buffer(x)) for x in (a, b)]
            calls[who] = repeat.repeat2, [function, *places]
        else:
            words = [ctypes.c_int64(rows), ctypes.c_int64(columns)]
            places = [ctypes.c_void_p(x.ctypes.data) for x in (a, b)]
            calls[who] = repeat.repeat4, [function, *words, *places]
        b.view(np.uint8)[...] = POISON
        once(calls[who], 1)
        results.append(b.copy())
    found: dict[str, list[float]] = {who: [] for who in calls}
    times = {who: max(1, int(BATCH / max(once(call, 10), 1e-7))) for who, call in calls.items()}
    for _ in range(ROUNDS):
        for who, call in calls.items():
            found[who].append(once(call, times[who]))
    for other in results[1:]:
        np.testing.assert_allclose(other, results[0], rtol=1e-5)
    return {who: median(x) for who, x in found.items()}


def array(shape: str, rows: int, columns: int) -> NDArray[Any]:
    """Of a type and extents as `SHAPES` has them, with random numbers."""
    element, *extents = shape.split()
    sizes = {"M": rows, "N": columns, "N+3": columns + 3}
    dims = [sizes[e] if e in sizes else int(e) for e in extents]
    return np.random.default_rng(1).integers(1, MOST.get(element, 100), dims).astype(TYPES[element])


def placed(values: NDArray[Any], at: int) -> NDArray[Any]:
    """The same numbers, `at` bytes behind the beginning of a page: processors that compare the last 12 bits
    of addresses take loads for dependent on stores, where arrays lie alike."""
    room = np.empty(values.nbytes + 2 * PAGE, np.uint8)
    first = -room.ctypes.data % PAGE + at
    there = room[first : first + values.nbytes].view(values.dtype).reshape(values.shape)
    there[...] = values
    return there


def once(call: Call, times: int) -> float:
    """Seconds of this process's time, which other processes do not lengthen."""
    function, arguments = call
    begin = time.process_time()
    function(ctypes.c_long(times), *arguments)
    return (time.process_time() - begin) / times


def libraries(
    name: str, target: str, before: Path | None, folder: Path, peers: Sequence[str]
) -> dict[str, ctypes.CDLL]:
    """Of the other checkout, of this one, of plain C and of Halide."""
    made: dict[str, Path] = {}
    own = {"now": Path(sys.executable).with_name("hbc")}
    for who, hbc in ({"before": before / ".venv/bin/hbc", **own} if before else own).items():
        out = folder / who
        command = [hbc, "compile", KERNELS / f"{name}.hb", "--target", target, "-o", out]
        subprocess.run(command, check=True, capture_output=True)
        made[who] = linked("gcc", next(out.glob("*.c")), folder / f"{who}.so", OWN[target])
    for peer in peers:
        library = folder / f"{peer}.so"
        if peer == "halide":
            made[peer] = linked("gcc", halide.compiled(name, target, folder), library, [])
        else:
            made[peer] = linked(peer, KERNELS / f"{name}.c", library, PLAIN[target])
    return {who: ctypes.CDLL(str(library)) for who, library in made.items()}


def linked(compiler: str, source: Path, library: Path, flags: Sequence[str]) -> Path:
    command = [compiler, "-O3", *flags, source, "-o", library, "-shared", "-fPIC", "-lm"]
    subprocess.run([*command, "-lpthread", "-ldl"], check=True)
    return library


if __name__ == "__main__":
    main()
