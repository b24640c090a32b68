"""One fuzz case: a program with its schedule, sizes and target, and its form as a `.hb` file."""

from __future__ import annotations

import re
from dataclasses import dataclass

from choices import Choices, chance, weighted
from programs import choose_sizes, write_program
from schedules import write_schedule

TARGETS = ((2, "avx512"), (2, "avx2"), (1, "c"))


@dataclass(frozen=True, slots=True)
class Case:
    """`fixed`: the sizes are compile-time constants. `seed` is that of the inputs."""

    program: str
    sizes: dict[str, int]
    target: str
    fixed: bool
    seed: int

    @property
    def text(self) -> str:
        """The file, with what replays it in a comment on the first line."""
        sizes = " ".join(f"{n}={v}" for n, v in self.sizes.items())
        how = f"# sizes: {sizes} target: {self.target} fixed: {int(self.fixed)} seed: {self.seed}"
        return f"{how}\n{self.program}\n"


def generate(c: Choices) -> Case:
    """A random case."""
    target = weighted(c, TARGETS)
    written = write_program(c)
    plan = write_schedule(written.draft)
    sizes = choose_sizes(written.draft, plan.divisible)
    lines = [*written.lines]
    if plan.lines:
        body = "\n".join(f"    {line}" for line in plan.lines)
        lines.append(f"schedule s for {target} {{\n{body}\n}}")
    text = "\n".join(lines)
    used = {n: v for n, v in sizes.items() if re.search(rf"\b{n}\b", text)}
    declared = f"size {', '.join(used)}\n" if used else ""
    return Case(declared + text, used, target, chance(c, 25), c.integer(0, 9))


def parse_case(text: str) -> Case:
    """The case that a file of the corpus holds. Its first line must say how to run it."""
    first, _, program = text.partition("\n")
    found = re.fullmatch(r"# sizes: ?(.*?) ?target: (\w+) fixed: ([01]) seed: (\d+)", first.strip())
    if found is None:
        raise ValueError("the first line must be `# sizes: N=1 target: c fixed: 0 seed: 0`")
    sizes = dict(part.split("=") for part in found[1].split())
    numbers = {name: int(v) for name, v in sizes.items()}
    return Case(program.rstrip("\n"), numbers, found[2], found[3] == "1", int(found[4]))
