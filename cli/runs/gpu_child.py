"""The child process that kernels run on the GPU from; what goes wrong there ends only itself.

Usage: python -m hbc.cli.runs.gpu_child LIBRARY pycuda|cuda-bindings. Reads requests and answers them as
`native_child` does, calling the library's entry points for device memory. Times are those of events.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from hbc.cli.runs.gpu_driver import Gpu, GpuError
from hbc.cli.runs.gpu_timing import measured
from hbc.codegen.c.by_value import by_value
from hbc.codegen.c.codes import CUDA, MEMORY, code_kind
from hbc.ir.ground.diag import Diagnostic, ToolError

MODULES = {"pycuda": "hbc.cli.runs.gpu_pycuda", "cuda-bindings": "hbc.cli.runs.gpu_bindings"}
GUARD, GUARD_BYTE = 4096, 0x5A  # bytes before and behind a guarded array, which stay as they are


class Failure(Exception):
    """A kernel failed. `code` is what its entry point returned."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Served:
    """The library and the GPU of this process."""

    def __init__(self, library: ctypes.CDLL, gpu: Gpu) -> None:
        self.library = library
        self.gpu = gpu

    def text(self, function: str, *arguments: Any) -> str:
        """What an entry point says."""
        explain = self.library[function]
        explain.restype = ctypes.c_char_p
        said = explain(*arguments)
        return str(said.decode("utf-8", "replace")) if said else "no reason given"

    def said(self, request: dict[str, Any], code: int) -> str:
        """What a code means; of CUDA's, what CUDA says."""
        if not (code and request["explain"]):
            return ""
        meaning = self.text(request["explain"], ctypes.c_int(code))
        if code_kind(code) not in (CUDA, MEMORY):
            return meaning
        name = request["explain"].removesuffix("_strerror")
        return self.text(f"{name}_cuda_error")

    def wait(self, request: dict[str, Any]) -> None:
        """Until all launches are done, in words of the kernels where they can say which one failed."""
        if request["explain"]:
            name = request["explain"].removesuffix("_strerror")
            code = self.library[f"{name}_wait"](ctypes.c_void_p(self.gpu.stream()))
            if code:
                raise Failure(code)

    def serve(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request. `failed`: what CUDA or the driver says went wrong."""
        answer: dict[str, Any] = {"code": 0, "said": "", "seconds": [], "emulated": None}
        try:
            with self._arrays(request) as places:
                answer["seconds"] = self._run(request, places)
        except Failure as e:
            answer |= {"code": e.code, "said": self.said(request, e.code)}
            if code_kind(e.code) in (CUDA, MEMORY):
                answer["failed"] = answer["said"]
        except GpuError as e:
            answer["failed"] = str(e)
        return answer

    @contextmanager
    def _arrays(self, request: dict[str, Any]) -> Iterator[list[int]]:
        guard = GUARD if request["guarded"] else 0
        held: list[int] = []
        try:
            for array in in_memory(request):
                whole = array["bytes"] + 2 * guard
                base = self._allocate(max(whole, 1), array["name"])
                held.append(base)
                if guard:
                    self.gpu.fill(base, GUARD_BYTE, whole)
                self._start(array, base + guard)
            yield [base + guard for base in held]
            for array, base in zip(in_memory(request), held, strict=True):
                self._finish(array, base, guard)
        finally:
            with suppress(GpuError):  # after a failure, memory goes with the process
                for base in held:
                    self.gpu.free(base)

    def _allocate(self, size: int, name: str) -> int:
        try:
            return self.gpu.allocate(size)
        except GpuError as e:
            if not e.out_of_memory:
                raise
            free, total = self.gpu.room()
            needs, free_now, whole = (f"{n / 1e6:.4g}" for n in (size, free, total))
            said = f"no room for `{name}`, {needs} MB: {free_now} of {whole} MB are free"
            raise GpuError(said, True) from e

    def _start(self, array: dict[str, Any], place: int) -> None:
        if array["fill"] is not None and array["bytes"]:
            self.gpu.fill(place, array["fill"], array["bytes"])
        if array["load"] and array["bytes"]:
            data = Path(array["load"]).read_bytes()
            self.gpu.write(place, memoryview(data)[: array["bytes"]])

    def _finish(self, array: dict[str, Any], base: int, guard: int) -> None:
        for where, edge in (("before", base), ("behind", base + guard + array["bytes"])):
            if guard and set(self._bytes(edge, guard)) != {GUARD_BYTE}:
                raise GpuError(f"something was written {where} `{array['name']}`")
        if array["save"]:
            size = array["bytes"]
            data = self._bytes(base + guard, size) if size else bytearray()
            Path(array["save"]).write_bytes(data)

    def _bytes(self, place: int, size: int) -> bytearray:
        data = bytearray(size)
        self.gpu.read(memoryview(data), place)
        return data

    def _run(self, request: dict[str, Any], places: list[int]) -> list[float]:
        function = self.library[request["function"]]
        function.restype = ctypes.c_int
        arguments: list[Any] = [ctypes.c_int64(size) for size in request["sizes"]]
        where = iter(places)
        for array in request["arrays"]:
            if array["scalar"]:
                arguments.append(by_value(array["scalar"][0], bytes.fromhex(array["scalar"][1])))
                continue
            arguments.append(ctypes.c_void_p(next(where)))
            arguments += [ctypes.c_int64(stride) for stride in array["strides"]]
        arguments.append(ctypes.c_void_p(self.gpu.stream()))

        def launch() -> None:
            code = function(*arguments)
            if code:
                raise Failure(code)

        if request["repeat"]["most"] > 1:  # later launches would be blamed for what this one does
            launch()
            self.wait(request)
        try:
            times = measured(self.gpu, launch, request["repeat"])
        except GpuError:
            self.wait(request)
            raise
        self.wait(request)
        overwritten = [
            (array, place)
            for array, place in zip(in_memory(request), places, strict=True)
            if array["load"] and array["save"]
        ]
        if (
            overwritten
        ):  # as the first call of all found them: what was timed began with other values
            for array, place in overwritten:
                self._start(array, place)
            launch()
            self.wait(request)
        return times


def in_memory(request: dict[str, Any]) -> list[dict[str, Any]]:
    """The arrays of a request, without its scalars."""
    return [array for array in request["arrays"] if not array["scalar"]]


def open_gpu(loader: str) -> Gpu:
    """The GPU through one of the two packages. ToolError in one line when it cannot be had."""
    try:
        module = import_module(MODULES[loader])
        gpu: Gpu = module.open_gpu()
    except (ImportError, RuntimeError, GpuError) as e:
        said = str(e).splitlines()[0] if str(e) else type(e).__name__
        raise ToolError(Diagnostic(f"the GPU cannot be used through {loader}: {said}")) from e
    return gpu


def main() -> None:
    gpu = open_gpu(sys.argv[2])
    served = Served(ctypes.CDLL(sys.argv[1]), gpu)
    for line in sys.stdin:
        answer = served.serve(json.loads(line))
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()
        if "failed" in answer:
            os._exit(0)  # the context may be beyond repair: the system cleans up
    gpu.close()


if __name__ == "__main__":
    main()
