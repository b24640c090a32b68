"""Libraries of AArch64, loaded and called by a small program in an emulator."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.build import run_tool
from hbc.codegen.build.cross import emulator
from hbc.ir.lang.target import ARM

SYSROOT = Path("/usr/aarch64-linux-gnu")
MOST = 8  # arrays of a function
DRIVER = r"""
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* LIBRARY FUNCTION BLOCKS INPUTS SIZE...: arrays from stdin, all but the first INPUTS back to stdout. */
int main(int count, char **words)
{
    void *library = dlopen(words[1], RTLD_NOW), *function = library ? dlsym(library, words[2]) : 0;
    if (!function)
        return 2;
    long blocks = atol(words[3]), inputs = atol(words[4]);
    void *a[8] = {0};
    for (int i = 5; i < count; ++i) {
        size_t size = strtoul(words[i], 0, 10);
        if (!(a[i - 5] = malloc(size)) || fread(a[i - 5], 1, size, stdin) != size)
            return 3;
    }
    if (blocks < 0)
        ((void (*)(void *, void *, void *, void *, void *, void *, void *, void *))function)(
            a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    else
        ((void (*)(size_t, void *, void *, void *, void *, void *, void *, void *, void *))function)(
            (size_t)blocks, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7]);
    for (int i = 5 + (int)inputs; i < count; ++i)
        fwrite(a[i - 5], 1, strtoul(words[i], 0, 10), stdout);
    return fflush(stdout) != 0;
}
"""


@dataclass(frozen=True)
class Emulated:
    """A library, and the program that calls it, on a processor that qemu knows."""

    library: Path
    driver: Path
    processor: str


def driver(folder: Path, compiler: Sequence[str]) -> Path:
    made = folder / "driver"
    if not made.exists():
        (folder / "driver.c").write_text(DRIVER)
        command = [
            *compiler,
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-Wno-pedantic",
            "-o",
            str(made),
            str(folder / "driver.c"),
        ]
        done = run_tool.compile_with(command, made)
        assert done.returncode == 0, done.stderr[:4000]
    return made


def call_emulated(
    loaded: Emulated, name: str, inputs: Sequence[NDArray[Any]], outputs: Sequence[NDArray[Any]],
    blocks: int | None,
) -> None:  # fmt: skip
    arrays = [*inputs, *outputs]
    assert len(arrays) <= MOST
    words = [str(loaded.library), name, str(-1 if blocks is None else blocks), str(len(inputs))]
    done = subprocess.run(
        [
            *emulator(ARM), "-cpu", loaded.processor, "-L", str(SYSROOT), str(loaded.driver), *words,
            *(str(a.nbytes) for a in arrays),
        ],
        input=b"".join(a.tobytes() for a in arrays), capture_output=True, check=True, timeout=120,
    )  # fmt: skip
    at = 0
    for output in outputs:
        output.view(np.uint8)[:] = np.frombuffer(
            done.stdout[at : at + output.nbytes], dtype=np.uint8
        )
        at += output.nbytes
    assert at == len(done.stdout)
