"""Random nests of loops in a GPU's block, whose threads touch shared memory: the program as text."""

from __future__ import annotations

import random

from hbc.ir.lang.kernel import Kernel, Size
from hbc.ir.lang.read import read_stmt

BUFFERS = "stuv"
THREADS = 64


def nest(depth: int, width: int, seed: int, resident: bool) -> Kernel:
    """A block with so many statements, every other one a loop with as many; loops so deep."""
    body = "\n".join(_statements(depth, width, random.Random(seed), ()))
    for name in BUFFERS:
        body = f"allocate {name}: f32[{2 * THREADS}] in shared {{\n{{\n{body}\n}}\n}}"
    stays = " resident 0" if resident else ""
    return kernel_of(f"blocks b from 0 count 2{stays} {{\n{body}\n}}")


def kernel_of(text: str) -> Kernel:
    """A kernel of a size N with this body."""
    return Kernel("nest", (Size("N"),), (), (), (), read_stmt(text))


def _statements(depth: int, width: int, rng: random.Random, around: tuple[str, ...]) -> list[str]:
    lines: list[str] = []
    for n in range(width):
        if depth > 0 and (n % 2 == 1 or width == 1):
            name = f"l{depth}_{n}"
            inside = _statements(depth - 1, width, rng, (*around, name))
            count = rng.choice(("N", "N", "3"))
            lines += [f"for {name} from 0 count {count} {{", "{", *inside, "}", "}"]
        else:
            lines += _access(rng, around)
    return lines


def _access(rng: random.Random, around: tuple[str, ...]) -> list[str]:
    """All threads copy an element, of halves that may take turns, from their own or another's."""
    to, source = rng.sample(BUFFERS, 2)
    turn = rng.choice(around) if around and rng.random() < 0.6 else None
    at = "t" if turn is None else f"t + {THREADS} * ({turn} % 2)"
    of = rng.choice(("t", "t", f"{THREADS - 1} - t"))
    if turn is not None and rng.random() < 0.7:
        of += f" + {THREADS} * (({turn} + 1) % 2)"
    return [f"threads t from 0 count {THREADS} {{", f"{to}[{at}] = {source}.f32[{of}]", "}"]
