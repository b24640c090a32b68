"""Counts what stands between loads and stores in a compiled function."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

LINE = re.compile(r"\s+[0-9a-f]+:\t(\S+)\s*([^#]*)")
# Returns, paddings, masks that are constants, and frames.
NOTHING = re.compile(r"ret|vzeroupper|endbr64|nop\w*|xchg|data16|cs|kmov\w|push|pop|leave")
MOVES = re.compile(r"(vmov(dq|up|ap|ss|sd|nt|d$|q$)|vp?maskmov|movabs|vp?broadcast)")


def count_instructions(made: Path, function: str) -> int:
    command = ["objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", str(made)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    lines = [LINE.match(line) for line in text.splitlines()]
    return sum(works(line[1], line[2].strip()) for line in lines if line)


def works(name: str, operands: str) -> bool:
    """Whether an instruction does something to elements; blends by masks are moves by name."""
    if NOTHING.fullmatch(name) or "rsp" in operands or (name == "mov" and operands[0] == "$"):
        return False
    if not MOVES.match(name):
        return True
    memory = "(" in operands
    stores = re.sub(r"\{.*?\}", "", operands).strip().endswith(")")
    if "broadcast" in name and not memory:
        return operands.startswith("%x")  # of a general register it makes a constant
    return "{%k" in operands and not stores and not (memory and "{z}" in operands)
