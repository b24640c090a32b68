"""The child process that compiled code runs in: a crash, a hang or a leak there ends only itself.

Usage: python -m hbc.cli.runs.native_child LIBRARY [AMX_EMULATOR]. Reads one JSON request per line on stdin,
answers each with one JSON line on stdout (see `native`). Without NumPy, so that it starts in
milliseconds.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hbc.codegen.c.by_value import by_value
from hbc.codegen.c.codes import CUDA, MEMORY, code_kind

if TYPE_CHECKING:
    from hbc.codegen.build.amx_library import Emulator

PAGE = mmap.PAGESIZE
STAGGER = 17 * 64  # bytes between the offsets of two arrays in their pages: no 4 KiB aliasing
ENOUGH_SHARE = 0.1  # of the seconds, once there are enough calls
READ_ONLY = 1  # PROT_READ
PACKED_POISON = 0x5A


class Region:
    """Private zeroed memory for one array. A guarded one ends where a page begins that faults, so
    that a read or write just behind the array is a crash and not a lucky guess."""

    def __init__(self, length: int, number: int, guarded: bool) -> None:
        pages = -(-max(length, 1) // PAGE) * PAGE
        flags = {}
        if hasattr(mmap, "MAP_PRIVATE"):
            flags = {"flags": mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS}
        self.length = length
        self.map = mmap.mmap(-1, pages + PAGE, **flags)
        self.base = ctypes.addressof(ctypes.c_char.from_buffer(self.map))
        self.pages = pages
        if guarded:
            self.offset = pages - length
            _protect(self.base + pages, PAGE, 0)
        else:
            self.offset = number * STAGGER % PAGE
            if length >= 1 << 21 and hasattr(mmap, "MADV_HUGEPAGE"):
                self.map.madvise(mmap.MADV_HUGEPAGE)

    @property
    def address(self) -> int:
        return self.base + self.offset

    def load(self, path: str) -> None:
        with Path(path).open("rb") as file, memoryview(self.map) as view:
            file.readinto(view[self.offset : self.offset + self.length])

    def copy(self) -> bytes:
        """What it holds."""
        return ctypes.string_at(self.address, self.length)

    def fill(self, byte: int) -> None:
        ctypes.memset(self.address, byte, self.length)

    def save(self, path: str) -> None:
        with Path(path).open("wb") as file, memoryview(self.map) as view:
            file.write(view[self.offset : self.offset + self.length])

    def freeze(self) -> None:
        """Makes the array read-only, where it has its pages to itself."""
        _protect(self.base, self.pages, READ_ONLY)


def _protect(address: int, length: int, access: int) -> None:
    if sys.platform != "win32":
        libc = ctypes.CDLL(None)
        libc.mprotect(ctypes.c_void_p(address), ctypes.c_size_t(length), access)


class Held:
    """The function and the arguments of a request, which another one may call again. `begins`: what arrays
    that the function overwrites hold before each call."""

    def __init__(
        self, function: Any, arguments: list[Any], regions: list[Region], begins: dict[int, bytes]
    ) -> None:
        self.function, self.arguments, self.regions = function, arguments, regions
        self._begins = begins

    def begin(self) -> None:
        """Makes ready for the next call."""
        for address, held in self._begins.items():
            ctypes.memmove(address, held, len(held))


def serve(
    library: ctypes.CDLL, request: dict[str, Any], emulator: Emulator | None = None
) -> tuple[dict[str, Any], Held]:
    """Runs one request: loads inputs, poisons outputs, calls, times, writes outputs back."""
    regions = []
    held = [array for array in request["arrays"] if not array["scalar"]]
    for number, array in enumerate(held):
        region = Region(array["bytes"], number, request["guarded"])
        if array["load"]:
            region.load(array["load"])
        if array["fill"] is not None:
            region.fill(array["fill"])
        elif request["guarded"] and not array["save"]:
            region.freeze()
        regions.append(region)
    sizes: list[Any] = [ctypes.c_int64(size) for size in request["sizes"]]
    arguments = list(sizes)
    packing: dict[str, float] = {}
    code = 0
    kept = []
    places = iter(regions)
    for number, array in enumerate(request["arrays"]):
        if array["scalar"]:
            arguments.append(by_value(array["scalar"][0], bytes.fromhex(array["scalar"][1])))
            continue
        region = next(places)
        if array["packed"] and code == 0:
            start = time.perf_counter()
            code, region = _packed(library, request, sizes, array["name"], region, number)
            packing[array["name"]] = time.perf_counter() - start
            kept.append(region)
        arguments.append(ctypes.c_void_p(region.address))
        arguments += [ctypes.c_int64(stride) for stride in array["strides"]]
    function = getattr(library, request["function"] + ("_packed" if packing else ""))
    function.restype = ctypes.c_int
    seconds: list[float] = []
    begins = {
        region.address: region.copy()
        for region, array in zip(regions, held, strict=True)
        if array["load"] and array["save"]
    }
    call = Held(function, arguments, [*regions, *kept], begins)
    if code == 0:
        code, seconds = _repeat(call, request["repeat"], emulator)
    for region, array in zip(regions, held, strict=True):
        if array["save"] and code == 0:
            region.save(array["save"])
    answer = {
        "code": code,
        "said": _explain(library, request, code),
        "seconds": seconds,
        "emulated": None if emulator is None else emulator.counts(),
        "packing": packing,
    }
    return answer, call


def _packed(
    library: ctypes.CDLL, request: dict[str, Any], sizes: list[Any], name: str, raw: Region, number: int
) -> tuple[int, Region]:  # fmt: skip
    """What the kernel makes of a constant input, in memory of its own; or an error code."""
    measure = getattr(library, f"{request['function']}_packed_size_{name}")
    measure.restype = ctypes.c_int64
    length = measure(*sizes)
    if length < 0:
        return -length, raw
    made = Region(length, number, request["guarded"])
    made.fill(PACKED_POISON)
    pack = getattr(library, f"{request['function']}_pack_{name}")
    pack.restype = ctypes.c_int
    code: int = pack(*sizes, ctypes.c_void_p(raw.address), ctypes.c_void_p(made.address))
    if request["guarded"]:
        made.freeze()
    return code, made


def _repeat(
    call: Held, repeat: dict[str, Any], emulator: Emulator | None
) -> tuple[int, list[float]]:
    """Calls until `least` calls and `seconds` have passed, or a tenth of them after `enough` calls; at most
    `most`. Warm-ups first. The emulator has counted the last call."""
    function, arguments = call.function, call.arguments
    for _ in range(repeat["warmups"]):
        call.begin()
        code = function(*arguments)
        if code:
            return code, []
    clock = time.thread_time_ns if repeat["own"] else time.perf_counter_ns
    times: list[float] = []
    spent, wanted = 0.0, repeat["seconds"]
    while len(times) < repeat["least"] or (spent < wanted and len(times) < repeat["most"]):
        if emulator is not None:
            emulator.reset_counts()
        call.begin()
        start = clock()
        code = function(*arguments)
        took = (clock() - start) * 1e-9
        if code:
            return code, []
        times.append(took)
        spent += took
        if len(times) == repeat["enough"]:
            wanted = repeat["seconds"] * ENOUGH_SHARE
    return 0, times


def _explain(library: ctypes.CDLL, request: dict[str, Any], code: int) -> str:
    if code == 0 or not request["explain"]:
        return ""
    explain = getattr(library, request["explain"])
    explain.restype = ctypes.c_char_p
    said = explain(ctypes.c_int(code))
    words = f"{request['explain'].removesuffix('_strerror')}_cuda_error"
    if code_kind(code) in (CUDA, MEMORY) and hasattr(library, words):
        explain = getattr(library, words)  # on the CPU too they name the kernel and its launch
        explain.restype = ctypes.c_char_p
        said = explain()
    return said.decode("utf-8", "replace") if said else f"error {code}"


def main() -> None:
    emulator = None
    if len(sys.argv) > 2:  # before the library, which looks for it when it is loaded
        from hbc.codegen.build.amx_library import open_emulator  # half of the time to start

        emulator = open_emulator(Path(sys.argv[2]))
        emulator.install()
    library = ctypes.CDLL(sys.argv[1])
    held: Held | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if request.get("again") and held is not None:
            code, seconds = _repeat(held, request["repeat"], None)
            answer: dict[str, Any] = {"code": code, "said": "", "seconds": seconds}
        else:
            held = None  # gives its memory back first
            answer, held = serve(library, request, emulator)
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
