"""Counts the instructions of gcc and clang for the shuffles of `shuffles.tsv`, and writes them there:
`python peers.py gcc clang 'python -m ziglang cc'`, in the order of the columns.

Each register of the output is asked for by `__builtin_shufflevector`: of one vector that has all the input,
where the compiler takes that, and by pairs of registers; the smaller count is kept.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
from count_instructions import count_instructions

from hbc.cli.sketches.shuffles import FILES, byte_rows
from hbc.frontend.sketch.gather_text import parse_gather
from hbc.ir.lang.types import DTYPES

TABLE = Path(__file__).with_name("shuffles.tsv")
FLAGS = {
    "avx512": ["-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq"],
    "avx2": ["-mavx2"],
}
HEAD = "void peer(const unsigned char *restrict x, unsigned char *restrict out) {\n"


def together(rows: np.ndarray, sources: int) -> str:
    """One vector has all the input; only clang takes it."""
    lanes = rows.shape[1]
    size = lanes
    while size < sources * lanes:
        size *= 2
    lines = [
        f"typedef unsigned char big __attribute__((vector_size({size})));",
        f"typedef unsigned char vec __attribute__((vector_size({lanes}), aligned(1)));",
        f"{HEAD} big a = {{0}}, z = {{0}}; __builtin_memcpy(&a, x, {sources * lanes});",
    ]
    for number, row in enumerate(rows.tolist()):
        index = ", ".join(str({-1: size, -2: -1}.get(v, v)) for v in row)
        shuffled = f"__builtin_shufflevector(a, z, {index})"
        lines.append(f" *(vec *)(out + {number * lanes}) = {shuffled};")
    return "\n".join([*lines, "}\n"])


def by_pairs(rows: np.ndarray, sources: int) -> str:
    """One register after the other; the compiler does not know where they come from."""
    lanes = rows.shape[1]
    lines = [
        f"typedef unsigned char vec __attribute__((vector_size({lanes})));",
        f"typedef vec loose __attribute__((aligned(1)));\n{HEAD} vec z = {{0}};",
    ]
    for s in range(sources):
        lines.append(f' vec x{s} = *(const loose *)(x + {s * lanes}); asm("" : "+v"(x{s}));')
    for number, row in enumerate(rows.tolist()):
        used = sorted({v // lanes for v in row if v >= 0})
        names = [f"x{s}" for s in used] + ["z"] * (-1 in row)
        where = {**{s: at for at, s in enumerate(used)}, -1: len(used)}
        part = [-1 if v == -2 else where[v // lanes] * lanes + v % lanes for v in row]
        first = [v if v < 2 * lanes else -1 for v in part]
        pair = (names * 2)[:2]
        index = ", ".join(map(str, first))
        lines.append(f" vec r{number} = __builtin_shufflevector({', '.join(pair)}, {index});")
        for at in range(2, len(names)):
            mixed = [lanes + v % lanes if v // lanes == at else i for i, v in enumerate(part)]
            index = ", ".join(map(str, mixed))
            both = f"r{number}, {names[at]}"
            lines.append(f" r{number} = __builtin_shufflevector({both}, {index});")
        lines.append(f" *(loose *)(out + {number * lanes}) = r{number};")
    return "\n".join([*lines, "}\n"])


def peer_count(compiler: list[str], target: str, rows: np.ndarray, sources: int) -> int:
    counts = []
    for text in (together(rows, sources), by_pairs(rows, sources)):
        source, made = Path("/tmp/peer.c"), Path("/tmp/peer.o")
        source.write_text(text, encoding="utf-8")
        command = [*compiler, "-O3", "-w", *FLAGS[target], "-fno-sanitize=all"]
        done = subprocess.run(
            [*command, "-fomit-frame-pointer", "-c", str(source), "-o", str(made)],
            capture_output=True,
            check=False,
        )
        if done.returncode == 0:
            counts.append(count_instructions(made, "peer"))
    return min(counts)


def main(compilers: list[list[str]]) -> None:
    lines = []
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        cells = line.split("\t")
        if not line.startswith("#"):
            dtype = DTYPES[cells[2]]
            gather = parse_gather(cells[3], dtype.bytes, 1 << 14).gather
            lanes = FILES[cells[1]][1]
            sources = -(-int(np.prod(gather.inputs[0])) * dtype.bytes // lanes)
            rows = byte_rows(gather, dtype.bytes, lanes)
            counts = [peer_count(compiler, cells[1], rows, sources) for compiler in compilers]
            cells[6 : 6 + len(counts)] = map(str, counts)
        lines.append("\t".join(cells))
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main([argument.split() for argument in sys.argv[1:]])
