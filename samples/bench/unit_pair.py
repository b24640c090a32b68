"""One convolution by hbc and by oneDNN: built, bound to the same arrays, compared, and timed in turns."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from hbc.cli.api.deep import in_compiler
from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.files.sizes import extents
from hbc.cli.prepare import build_library, choose, compile_chosen

Array = np.ndarray[Any, Any]
WINDOW = 0.002  # seconds in which one of the contenders is called


class Bound(ctypes.Structure):
    """`struct Bound` of peers/onednn_conv.cpp."""

    _fields_ = (
        ("function", ctypes.c_void_p), ("count", ctypes.c_int), ("sizes", ctypes.c_int64 * 6),
        ("arrays", ctypes.c_void_p * 3),
    )  # fmt: skip


@dataclass
class Contender:
    """Something to call, and the seconds of a call in each window. `keeps` lives as long."""

    name: str
    bound: Bound
    output: Array
    about: str
    keeps: tuple[Any, ...] = ()
    windows: list[float] = field(default_factory=list)

    @property
    def quick(self) -> float:
        """The quicker quarter of the windows takes less. On a shared machine the quickest is at times that of
        a clock that was set wrong: twice the roof."""
        return sorted(self.windows)[len(self.windows) // 4]


def build_peer(folder: Path) -> ctypes.CDLL:
    """oneDNN's side and the clock. SystemExit where there is no oneDNN."""
    source, built = Path(__file__).with_name("peers") / "onednn_conv.cpp", folder / "conv.so"
    prefix = os.environ.get("DNNL")
    there = [f"-I{prefix}/include", f"-L{prefix}/lib", f"-Wl,-rpath,{prefix}/lib"] if prefix else []
    command = [shutil.which("g++") or "g++", "-O2", "-std=c++17", "-shared", "-fPIC", str(source)]
    made = subprocess.run(
        [*command, *there, "-ldnnl", "-o", str(built)], capture_output=True, text=True, check=False
    )
    if made.returncode:
        raise SystemExit(f"no oneDNN: `apt-get install g++ libdnnl-dev`, or DNNL\n{made.stderr}")
    library = ctypes.CDLL(str(built))
    pointer, number = ctypes.c_void_p, ctypes.c_int64
    library.conv_new.argtypes = [
        ctypes.c_char_p, ctypes.c_int, pointer, pointer, *[number] * 4, *[pointer] * 3
    ]  # fmt: skip
    library.conv_new.restype = pointer
    library.conv_implementation.argtypes = [pointer]
    library.conv_implementation.restype = ctypes.c_char_p
    library.conv_version.restype = ctypes.c_char_p
    library.conv_window.argtypes = [ctypes.POINTER(Bound), ctypes.c_double, ctypes.c_int]
    library.conv_window.restype = ctypes.c_double
    return library


@dataclass
class Layer:
    """A row of a table: its sizes and params, the arrays that all contenders read."""

    kernel: Path
    row: Mapping[str, int]
    target: str | None
    kind: str  # u8s8 or bf16
    inputs: Mapping[str, Array] = field(default_factory=dict)
    operations: float = 0.0

    def by_hbc(self, schedule: str, folder: Path) -> Contender:
        """hbc's kernel at these sizes, which are known to neither side's code beforehand."""
        settings = {name: str(value) for name, value in self.row.items()}
        compiled = in_compiler(
            lambda: compile_chosen(choose(self.kernel, settings, self.target, schedule))
        )
        library = folder / f"{schedule}.so"
        build_library(compiled, library)
        p = compiled.chosen.pipeline
        run = gather_inputs(p, settings, choose_example(p, None), {})
        self.inputs = self.inputs or run.inputs
        (out,) = p.outputs
        output = aligned(
            extents(out, run.sizes), np.dtype(np.int32 if self.kind == "u8s8" else np.float32)
        )
        taps = self.inputs[p.inputs[1].name]
        self.operations = 2.0 * output.size * taps.size / taps.shape[-1]
        loaded = ctypes.CDLL(str(library))
        sizes = list(run.sizes.values())
        arrays = [*(self.inputs[i.name] for i in p.inputs), output]
        name = compiled.source.name
        for n, i in enumerate(p.inputs):
            if i.constant:
                arrays[n] = packed(loaded, f"{name}_", i.name, sizes, arrays[n])
                name = compiled.source.name + "_packed"
        function = ctypes.cast(getattr(loaded, name), ctypes.c_void_p)
        bound = bind(function.value, len(sizes), sizes, [a.ctypes.data for a in arrays])
        made = compiled.chosen.made
        about = made.about if made is not None else f"schedule {schedule}"
        return Contender(schedule, bound, output, about, (loaded, arrays))

    def by_onednn(self, peer: ctypes.CDLL) -> Contender | None:
        """oneDNN's primitive; None where it has none."""
        r = self.row
        space = [r[n] for n in "DHW" if n in r]
        taps = [r[n] for n in "QRS" if n in r]
        shape = [
            (n + 2 * r.get("pad", 0) - t) // r["stride"] + 1
            for n, t in zip(space, taps, strict=True)
        ]
        output = aligned(
            (*shape, r["K"]), np.dtype(np.int32 if self.kind == "u8s8" else np.float32)
        )
        image, filters = self.inputs.values()
        numbers = ctypes.c_int64 * len(space)
        made = peer.conv_new(
            self.kind.encode(), len(space), numbers(*space), numbers(*taps), r["C"], r["K"], r["stride"],
            r.get("pad", 0), image.ctypes.data, filters.ctypes.data, output.ctypes.data,
        )  # fmt: skip
        if not made:
            return None
        run = ctypes.cast(peer.conv_run, ctypes.c_void_p).value
        about = peer.conv_implementation(made).decode()
        return Contender("oneDNN", bind(run, -1, [], [made]), output, about, (image, filters))


def packed(loaded: ctypes.CDLL, prefix: str, name: str, sizes: list[int], raw: Array) -> Array:
    """What the kernel makes of a constant input. SystemExit where it refuses."""
    given = [ctypes.c_int64(size) for size in sizes]
    measure = getattr(loaded, f"{prefix}packed_size_{name}")
    measure.restype = ctypes.c_int64
    length = measure(*given)
    made = aligned((max(length, 0),), np.dtype(np.uint8))
    pack = getattr(loaded, f"{prefix}pack_{name}")
    if length < 0 or pack(
        *given, ctypes.c_void_p(raw.ctypes.data), ctypes.c_void_p(made.ctypes.data)
    ):
        raise SystemExit(f"`{name}` cannot be packed")
    return made


def aligned(shape: Sequence[int], element: np.dtype[Any]) -> Array:
    """An array that begins with a line of the cache."""
    count = int(np.prod(shape)) * element.itemsize
    raw = np.full(count + 64, 0xA5, np.uint8)
    begin = -raw.ctypes.data % 64
    found: Array = raw[begin : begin + count].view(element).reshape(shape)
    return found


def bind(function: int | None, count: int, sizes: Sequence[int], arrays: Sequence[int]) -> Bound:
    return Bound(function, count, (ctypes.c_int64 * 6)(*sizes), (ctypes.c_void_p * 3)(*arrays))


def take_turns(
    peer: ctypes.CDLL, contenders: Sequence[Contender], rounds: int, threads: int
) -> None:
    """`rounds` windows each, in turns. SystemExit where a call fails."""
    for _ in range(rounds):
        for c in contenders:
            took = peer.conv_window(ctypes.byref(c.bound), WINDOW, threads)
            if took < 0:
                raise SystemExit(f"{c.name}: a call failed")
            c.windows.append(took)


def difference(a: Array, b: Array) -> float:
    """The largest difference of two outputs, beside the largest value."""
    wide = np.float64
    most = float(np.max(np.abs(a.astype(wide)))) or 1.0
    return float(np.max(np.abs(a.astype(wide) - b.astype(wide)))) / most
