"""The words of the language that no file declares: its functions, constants and boundary helpers."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from hbc.ir.lang import nodes as ir

if TYPE_CHECKING:
    from hbc.frontend.text import ast

EDGES = ("clamp_edge", "zero_edge", "mirror", "wrap")
# Name -> least and greatest number of arguments, and how it is written.
SHAPES = {
    "select": (3, 3, "select(condition, a, b)"),
    "min": (2, 64, "min(a, b)"),
    "max": (2, 64, "max(a, b)"),
    "abs": (1, 1, "abs(x)"),
    "clamp": (3, 3, "clamp(x, least, greatest)"),
}
MATHEMATICS = {str(op): op for op in ir.MathOp if op is not ir.MathOp.REINTERPRET}
BYTES = "bytes"  # of a type: how many an element takes in memory
FUNCTIONS = frozenset({*SHAPES, *MATHEMATICS, *EDGES, BYTES})
FILLS = frozenset({"random", "file", "ramp", "constant"})  # of inputs, in examples

# `lowest` and `highest`: the ends of whichever type they take. No literal of a file is as long.
LOWEST, HIGHEST = -(1 << 1000), 1 << 1000
CONSTANTS = {
    "pi": math.pi, "inf": math.inf, "nan": math.nan, "lowest": LOWEST, "highest": HIGHEST,
}  # fmt: skip


def words(file: ast.File) -> set[str]:
    """Every identifier of the file and of those that it imports."""
    texts = [source.text for source in (file.source, *file.imported)]
    return {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
