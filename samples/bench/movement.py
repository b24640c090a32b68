"""Times kernels that move elements: hbc's code, that of another checkout, and plain C, in turns.

python movement.py --before ../other-checkout       (see movement.sh)
"""

from __future__ import annotations

import argparse
import ctypes
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np

HERE = Path(__file__).parent
KERNELS = HERE / "movement"
TYPES = {"u8": np.uint8, "i16": np.int16, "f32": np.float32}
# Rows and columns, elements of A and B for each of those, and what rows of A have besides.
SHAPES = {
    "transpose_f32": (256, 256, "f32", 1, 0),
    "transpose_u8": (512, 512, "u8", 1, 0),
    "rgb_to_planar": (128, 1024, "u8", 3, 0),
    "planar_to_rgb": (128, 1024, "u8", 3, 0),
    "complex": (64, 512, "f32", 2, 0),
    "reversed_fir": (64, 1024, "i16", 1, 3),
    "structures": (64, 512, "f32", 3, 0),
}
FLAGS = {"avx2": ["-mavx2", "-mfma"], "avx512": ["-march=native"]}
ROUNDS, BATCH = 41, 2e-3  # rounds, and seconds of calls in each


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--before", type=Path, required=True, help="a checkout with its .venv")
    parser.add_argument("--kernels", nargs="*", default=list(SHAPES))
    chosen = parser.parse_args()
    print(
        "| kernel | target | before us | now us | gcc us | clang us | before / now | best C / now |"
    )
    print("|---|---|---|---|---|---|---|---|")
    gains: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        for name in chosen.kernels:
            for target in FLAGS:
                times = timed(name, target, chosen.before, Path(folder) / f"{name}_{target}")
                before, now, *plain = times
                gains.append(before / now)
                shown = " | ".join(f"{t * 1e6:.1f}" for t in times)
                print(
                    f"| {name} | {target} | {shown} | {before / now:.2f} | {min(plain) / now:.2f} |",
                    flush=True,
                )
    print(f"\ngeometric mean of before / now: {geometric_mean(gains):.2f}")


def timed(name: str, target: str, before: Path, folder: Path) -> list[float]:
    """Seconds of a call of each: the medians of rounds in which each is called in turn."""
    folder.mkdir()
    rows, columns, element, count, more = SHAPES[name]
    random = np.random.default_rng(1)
    a = random.integers(1, 100, rows * (columns * count + more)).astype(TYPES[element])
    calls, outputs = [], []
    for number, library in enumerate(libraries(name, target, before, folder)):
        b = np.zeros(rows * columns * count, TYPES[element])
        outputs.append(b)
        function = library[name if number < 2 else "plain"]
        words = [ctypes.c_int64(rows), ctypes.c_int64(columns)]
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (a, b)]
        calls.append((function, [*words, *pointers]))
    found: list[list[float]] = [[] for _ in calls]
    times = [max(1, int(BATCH / once(call, 3))) for call in calls]
    for _ in range(ROUNDS):
        for n, call in enumerate(calls):
            found[n].append(once(call, times[n]))
    for other in outputs[1:]:
        np.testing.assert_allclose(other, outputs[0], rtol=1e-5)
    return [median(x) for x in found]


def once(call: tuple[ctypes._NamedFuncPointer, list[object]], times: int) -> float:
    function, arguments = call
    begin = time.perf_counter()
    for _ in range(times):
        function(*arguments)
    return (time.perf_counter() - begin) / times


def libraries(name: str, target: str, before: Path, folder: Path) -> list[ctypes.CDLL]:
    """Of the other checkout, of this one, and of plain C."""
    made = []
    for number, hbc in enumerate((before / ".venv/bin/hbc", Path(sys.executable).with_name("hbc"))):
        out = folder / f"hbc{number}"
        file = KERNELS / f"{name}.hb"
        command = [hbc, "compile", file, "--target", target, "-o", out]
        subprocess.run(command, check=True, capture_output=True)
        source, library = next(out.glob("*.c")), folder / f"hbc{number}.so"
        flags = ["-O3", "-march=native", "-shared", "-fPIC", "-lm"]
        subprocess.run(["gcc", source, "-o", library, *flags], check=True)
        made.append(library)
    for compiler in ("gcc", "clang"):
        library = folder / f"{compiler}.so"
        flags = ["-O3", *FLAGS[target], "-shared", "-fPIC", "-lm"]
        source = KERNELS / f"{name}.c"
        subprocess.run([compiler, source, "-o", library, *flags], check=True)
        made.append(library)
    return [ctypes.CDLL(str(library)) for library in made]


if __name__ == "__main__":
    main()
