"""One fuzz case: a program with its schedule, sizes and target, and its form as a `.hb` file."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from choices import Choices, chance, pick, weighted
from draft import Draft
from fragment_programs import fragment_program
from programs import ANY_SIZES, choose_sizes, write_program
from register_programs import TYPES, register_program, register_sizes
from schedules import write_schedule
from short_programs import family_program, row_program, short_sizes
from tile_programs import tile_program, tile_sizes

from hbc.ir.lang.types import DType

TARGETS = (
    (4, "avx512"), (4, "avx2"), (2, "c"),
    (2, "avx512vnni"), (2, "avx512bf16"), (1, "avxvnni"), (1, "arm_dot"), (2, "amx"), (1, "cuda"),
    (1, "avx512vbmi"),
)  # fmt: skip
WHOLE = {"amx": tile_program, "cuda": fragment_program}  # where other schedules are refused
MORE_SIZES = 3  # sets of them at most, besides the first
FORM = re.compile(r"# sizes:(.*) target: (\w+) fixed: ([01]) seed: (\d+)")

Sizes = dict[str, int]


@dataclass(frozen=True, slots=True)
class Case:
    """`fixed`: the sizes, then only one set of them, are compile-time constants. `seed` is that of
    the inputs."""

    program: str
    sizes: tuple[Sizes, ...]
    target: str
    fixed: bool
    seed: int

    @property
    def text(self) -> str:
        """The file, with what replays it in a comment on the first line."""
        sizes = " |".join("".join(f" {n}={v}" for n, v in one.items()) for one in self.sizes)
        how = f"# sizes:{sizes} target: {self.target} fixed: {int(self.fixed)} seed: {self.seed}"
        return f"{how}\n{self.program}\n"


def generate(c: Choices, targets: Collection[str] = ()) -> Case:
    """A random case; for one of the targets, where some are given."""
    target = weighted(c, [(n, t) for n, t in TARGETS if not targets or t in targets])
    if target in WHOLE:
        return in_tiles(c, target)
    if chance(c, 10):
        return in_few_words(c, target)
    whole = target in TYPES and chance(c, 30)
    return in_registers(c, target) if whole else in_loops(c, target)


def in_tiles(c: Choices, target: str) -> Case:
    """One whose sums are in tile memory, or in fragments of tensor cores."""
    program = WHOLE[target](c)
    sizes = [tile_sizes(c, program) for _ in range(c.integer(1, 2))]
    text = "\n".join(["size M, N, K", *program.lines])
    return Case(text, tuple(sizes), target, False, c.integer(0, 11))


def in_few_words(c: Choices, target: str) -> Case:
    """One with a family of Funcs, or with intervals that data end."""
    program = pick(c, (family_program, row_program))(c, target)
    sizes = [short_sizes(c, program) for _ in range(c.integer(1, 3))]
    return Case("\n".join(program.lines), tuple(sizes), target, False, c.integer(0, 11))


def in_registers(c: Choices, target: str) -> Case:
    """One whose sums are in vector registers."""
    program = register_program(c, target)
    text = "\n".join(program.lines)
    names = [n for n in ("M", "N", "K") if re.search(rf"\b{n}\b", text)]
    sizes = [register_sizes(c, program, names) for _ in range(c.integer(1, 2))]
    declared = f"size {', '.join(names)}\n{text}"
    return Case(declared, tuple(sizes), target, False, c.integer(0, 11))


def in_loops(c: Choices, target: str) -> Case:
    """One with loops of all kinds."""
    written = write_program(c, target)
    plan = write_schedule(written.draft)
    fixed = chance(c, 20)
    sizes = [choose_sizes(written.draft, plan.divisible)]
    if not fixed:
        for _ in range(c.integer(0, MORE_SIZES)):
            sizes.append(choose_sizes(written.draft, plan.divisible, ANY_SIZES))
    lines = [*written.lines]
    if plan.lines:
        body = "\n".join(f"    {line}" for line in plan.lines)
        lines.append(f"schedule s for {target} {{\n{body}\n}}")
    text = with_type_parameter(written.draft, "\n".join(lines))
    used = [n for n in written.draft.sizes if re.search(rf"\b{n}\b", text)]
    declared = f"size {', '.join(used)}\n" if used else ""
    used += ["Q"] if written.draft.given else []
    distinct = list(dict.fromkeys(tuple((n, one[n]) for n in used) for one in sizes))
    return Case(declared + text, tuple(map(dict, distinct)), target, fixed, c.integer(0, 11))


def with_type_parameter(draft: Draft, text: str) -> str:
    """Now and then a type of the program gets a name."""
    if not chance(draft.c, 10):
        return text
    t: DType = pick(draft.c, draft.palette)
    return f"type E = {t}\n" + re.sub(rf"\b{t}\b", "E", text)


def parse_case(text: str, name: str = "the file") -> Case:
    """The case that a file of the corpus holds. One of its lines must say how to run it."""
    found = FORM.search(text)
    if found is None:
        raise ValueError(f"{name} has no line `# sizes: N=1 target: c fixed: 0 seed: 0`")
    sizes = []
    for one in found[1].split("|"):
        pairs = [part.split("=") for part in one.split()]
        sizes.append({size: int(value) for size, value in pairs})
    return Case(text.rstrip("\n"), tuple(sizes), found[2], found[3] == "1", int(found[4]))


def read_case(path: Path) -> Case:
    return parse_case(path.read_text(encoding="utf-8"), path.name)
