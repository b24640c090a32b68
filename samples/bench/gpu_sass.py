"""Counts the instructions of a kernel's main loop in what `nvdisasm -c` prints."""

import re
from dataclasses import dataclass
from itertools import pairwise

_SECTION = re.compile(r"\s*\.section\s+\.text\.(\w+)")
_LABEL = re.compile(r"\s*(\.L_x_\d+):")
_INSTRUCTION = re.compile(r"\s*/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9_.]+)\s*(.*?);")
_TO = re.compile(r"`\((\.L_x_\d+)\)")
# Multiply-adds that an instruction does for a warp. Of a product apart from its sum, FMUL counts.
_SUMS = {"HMMA.16816": 2048, "FFMA": 32, "FMUL": 32}


@dataclass(frozen=True)
class Loop:
    """From the first instruction to behind the branch back."""

    begin: int
    end: int


@dataclass(frozen=True)
class Count:
    """Instructions that run, and the multiply-adds of a warp among them."""

    instructions: int
    sums: int


def per_product(text: str, kernel: str, sums: int | None) -> float:
    """Instructions of a warp for each multiply-add, in the loop of whole blocks: of those that copy
    and multiply the one with the fewest. `sums`: multiply-adds of a warp in one iteration, where
    loops inside of it count them several times."""
    code, labels = instructions(text, kernel)
    loops = [
        Loop(labels[to], n + 1)
        for n, (name, rest) in enumerate(code)
        if name.startswith("BRA") and (to := target(rest)) in labels and labels[to] <= n
    ]
    outer = [
        a for a in loops if not any(b != a and b.begin <= a.begin <= a.end <= b.end for b in loops)
    ]
    found = [
        spent(code, set(labels.values()), loop, loops, sums)
        for loop in outer
        if any(name.startswith("LDG") for name, _ in code[loop.begin : loop.end])
    ]
    return min(c.instructions / c.sums for c in found if c.sums)


def instructions(text: str, kernel: str) -> tuple[list[tuple[str, str]], dict[str, int]]:
    """Names and operands in order, and where the labels are."""
    code: list[tuple[str, str]] = []
    labels: dict[str, int] = {}
    inside = False
    for line in text.splitlines():
        if section := _SECTION.match(line):
            inside = section[1] == kernel
        elif inside and (label := _LABEL.match(line)):
            labels[label[1]] = len(code)
        elif inside and (one := _INSTRUCTION.match(line)):
            code.append((one[1], one[2]))
    return code, labels


def target(rest: str) -> str:
    found = _TO.search(rest)
    return found[1] if found else ""


def spent(
    code: list[tuple[str, str]], labels: set[int], loop: Loop, loops: list[Loop], sums: int | None
) -> Count:
    """One iteration. Where it has a loop inside, that runs as often as the `sums` ask for."""
    whole = live(code, labels, loop)
    inner = next(
        (b for b in loops if b != loop and loop.begin <= b.begin <= b.end <= loop.end), None
    )
    if inner is None or sums is None:
        return whole
    once = live(code, labels, inner)
    if not once.sums:
        return whole
    times = (sums - (whole.sums - once.sums)) // once.sums
    return Count(whole.instructions + (times - 1) * once.instructions, sums)


def live(code: list[tuple[str, str]], labels: set[int], loop: Loop) -> Count:
    """Without the pieces between branches that load single halves and do nothing else: these are for rows
    that are not aligned."""
    cuts = {loop.begin, loop.end, *(n for n in labels if loop.begin < n < loop.end)}
    cuts |= {n + 1 for n in range(loop.begin, loop.end) if code[n][0].startswith("BRA")}
    count = done = 0
    for a, b in pairwise(sorted(cuts)):
        names = [name for name, _ in code[a:b]]
        products = sum(n for name in names for known, n in _SUMS.items() if name.startswith(known))
        halves = any(name.startswith("LDG") and ".U16" in name for name in names)
        if products or not halves or any(name.startswith("BAR") for name in names):
            count += b - a
            done += products
    return Count(count, done)
