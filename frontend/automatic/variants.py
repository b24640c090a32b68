"""A schedule of the file with other numbers: factors of its splits, tiles and vectors."""

from __future__ import annotations

import re
from collections import Counter

from hbc.frontend.costs.choices import Choices
from hbc.frontend.program.funcs import Pipeline, Schedule
from hbc.frontend.text.blocks import schedule_blocks

_HEAD = re.compile(r"schedule\s+\w+\s+for\s+\w+(?:\s*,\s*\w+)*(?=\s*(?:where\b|\{))")
_CUT = re.compile(r"\.(split|tile|unroll|prefetch)\(([^()]*)\)")
_NUMBER = re.compile(r"\d+")
MOST = 4096  # of a factor


def variant(p: Pipeline, schedule: Schedule, name: str, target: str, choices: Choices) -> str:
    """The text of a schedule under another name, for one target and the same sizes. Each number is
    a choice, named by its directive and loop: itself, half, double, one more or less where it is small."""
    text = schedule_blocks(p.source)[schedule.name]
    text = _HEAD.sub(f"schedule {name} for {target}", text, count=1)
    seen: Counter[str] = Counter()

    def changed(m: re.Match[str]) -> str:
        loop = m[2].split(",")[0].strip()
        word = f"{schedule.name}.{m[1]}({loop})"
        seen[word] += 1
        place = word if seen[word] == 1 else f"{word}#{seen[word]}"
        numbers = list(_NUMBER.finditer(m[2]))
        inside = m[2]
        for k, number in reversed(list(enumerate(numbers))):
            if not _is_whole(m[2], number):
                continue
            value = int(number[0])
            said = place if k == 0 else f"{place}.{k}"
            new = choices.pick(said, value, _others(value))
            inside = f"{inside[: number.start()]}{new}{inside[number.end() :]}"
        return f".{m[1]}({inside})"

    return _CUT.sub(changed, text) + "\n"


def _is_whole(text: str, number: re.Match[str]) -> bool:
    """Whether the digits are a number, and not the end of a name such as `L2`."""
    before, after = text[: number.start()][-1:], text[number.end() :][:1]
    return not (before.isalnum() or before == "_" or after.isalnum() or after == "_")


def _others(value: int) -> tuple[int, ...]:
    """The numbers beside one."""
    near = (value - 1, value + 1) if value <= 16 else ()
    halves = (value // 2,) if value % 2 == 0 else ()
    numbers = (*halves, value * 2, *near, value * 4)
    return tuple(n for n in dict.fromkeys(numbers) if 0 < n <= MOST)
