"""Traces: a kernel run by the interpreter, with a line for each value in the order in which it is computed.

    {"step": "rows", "array": "rows", "at": [0, 3], "value": 1.5}

Values that JSON has no numbers for are strings: "nan", "inf", "-inf".
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO

import numpy as np

from hbc.cli.files.replace_file import replace_file
from hbc.ir.ground.record import mutable
from hbc.ir.lang import nodes as ir
from hbc.ir.lang.kernel import Kernel
from hbc.ir.lang.walk import statements
from hbc.ir.meaning.interp import prepare
from hbc.ir.meaning.numpy_types import Array

AT = ": at"


@mutable
class Written:
    """Where lines go, and how many there are."""

    file: TextIO
    lines: int = 0


@mutable
class Coordinates:
    """Of the value that comes next."""

    at: list[int]

    def store(self, at: int, value: Any) -> None:
        self.at[at:] = [int(value)]


@mutable
class Values:
    """Those of a step in an array, with the coordinates that came before."""

    step: str
    array: str
    coordinates: Coordinates
    written: Written

    def store(self, at: int, value: Any) -> None:
        line = {
            "step": self.step, "array": self.array, "at": self.coordinates.at, "value": _plain(value)
        }  # fmt: skip
        self.written.file.write(f"{json.dumps(line)}\n")
        self.written.lines += 1


def write_trace(
    kernel: Kernel, sizes: Mapping[str, int], arrays: Mapping[str, Array], path: Path
) -> int:
    """Runs a kernel that was lowered to be traced, and writes what it computes; how many lines there are."""
    with replace_file(path) as beside, beside.open("w", encoding="utf-8", newline="\n") as file:
        written = Written(file)
        watched: dict[str, Coordinates | Values] = {}
        for s in statements(kernel.body):
            if (
                isinstance(s, ir.Store)
                and s.buffer.startswith("trace ")
                and not s.buffer.endswith(AT)
            ):
                step, _, array = s.buffer.removeprefix("trace ").partition(", ")
                at = watched[s.buffer + AT] = Coordinates([])
                watched[s.buffer] = Values(step, array, at, written)
        with np.errstate(all="ignore"):
            prepare(kernel, watched=watched)(sizes, arrays)
    return written.lines


def _plain(value: Any) -> int | float | bool | str:
    if isinstance(value, bool | int | np.bool_ | np.integer):
        return bool(value) if isinstance(value, bool | np.bool_) else int(value)
    number = float(value)
    return number if math.isfinite(number) else str(number)
