"""Small CUDA programs for the tests: a kernel between arrays, as a library or as a program."""

import ctypes
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hbc.codegen.build.cuda_cpu import ORDER_VARIABLE, Sanitizer, build, build_cached

INCLUDES = """#include <cuda_runtime.h>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#include <mma.h>
#include <stdio.h>
"""


@dataclass(frozen=True, slots=True)
class Ran:
    status: int
    output: str


def library(text: str, name: str = "kernel") -> ctypes.CDLL:
    return ctypes.CDLL(str(build_cached(INCLUDES + text, name=name)))


def call(function: Any, *arguments: NDArray[Any] | int) -> None:
    """Arrays become pointers."""
    function(
        *(
            ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) else ctypes.c_int(a)
            for a in arguments
        )
    )


def aligned(array: NDArray[Any], bytes_: int = 256) -> NDArray[Any]:
    """A copy at an address that is a multiple of some bytes."""
    room = np.empty(array.nbytes + bytes_, np.uint8)
    start = -room.ctypes.data % bytes_
    copy = room[start : start + array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def one_block(bodies: Mapping[str, str], threads: int, shared: int) -> str:
    """A program with a kernel for each body; it runs the one whose number is its argument, in one block, on
    `int *out`, zeros at first, and prints that. Body i is line i + 1 of the file."""
    kernels = [
        f'extern "C" __global__ void kernel{i}(int *out) {{ const int t = threadIdx.x; (void)t; {body} }}'
        for i, body in enumerate(bodies.values())
    ]
    assert all("\n" not in kernel for kernel in kernels)
    launches = "".join(
        f"    case {i}: kernel{i}<<<1, {threads}, {shared}>>>(out); break;\n"
        for i in range(len(kernels))
    )
    return "\n".join(
        [
            *kernels, INCLUDES, "#include <stdlib.h>", "int main(int, char **argument)", "{",
            "    int *out, host[1024];", "    cudaMalloc(&out, sizeof host);",
            "    cudaMemset(out, 0, sizeof host);", "    switch (atoi(argument[1])) {",
            f"{launches}    }}", "    if (cudaGetLastError() != cudaSuccess)", "        return 3;",
            "    cudaMemcpy(host, out, sizeof host, cudaMemcpyDeviceToHost);",
            f"    for (int i = 0; i < {threads}; i++)", '        printf("%d ", host[i]);',
            "    cudaFree(out);", "    return 0;", "}", "",
        ]
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Programs:
    """Bodies as one program for each sanitizer, built when first wanted."""

    bodies: Mapping[str, str]
    folder: Path
    threads: int = 64
    shared: int = 256

    def run(self, name: str, order: str = "forward", sanitize: Sanitizer = "") -> Ran:
        program = self.folder / f"program{sanitize}"
        if not program.exists():
            text = one_block(self.bodies, self.threads, self.shared)
            build(text, program, "program", sanitize=sanitize)
        environment = {**os.environ, ORDER_VARIABLE: order, "ASAN_OPTIONS": "detect_leaks=0"}
        answer = subprocess.run(
            [str(program), str(list(self.bodies).index(name))],
            capture_output=True, text=True, env=environment, timeout=120, check=False,
        )  # fmt: skip
        return Ran(answer.returncode, answer.stdout + answer.stderr)

    def numbers(self, name: str, order: str = "forward", sanitize: Sanitizer = "") -> list[int]:
        ran = self.run(name, order, sanitize)
        assert ran.status == 0, ran.output
        return [int(word) for word in ran.output.split()]
