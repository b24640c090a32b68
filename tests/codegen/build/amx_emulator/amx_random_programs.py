"""Random AMX programs, all legal, and what they leave behind."""

from __future__ import annotations

import functools

import amx_model
import numpy as np
from amx_program import INT_PRODUCTS, Program


def noise(size: int, seed: int = 1) -> bytes:
    return np.random.default_rng(seed).integers(0, 256, size).astype(np.uint8).tobytes()


def any_program(seed: int) -> Program:
    """Configured once, then fifty random instructions, all legal."""
    rng = np.random.default_rng(seed)
    m, n, k = (int(x) for x in rng.integers(1, 17, 3))
    places = [(m, 4 * n), (m, 4 * k), (k, 4 * n)]
    roles = [0, 1, 2, *(int(r) for r in rng.integers(0, 3, 5))]
    rng.shuffle(roles)
    shapes = [places[role] for role in roles]
    program = Program()
    program.configure(shapes)
    for _ in range(50):
        tile = int(rng.integers(8))
        c, a, b = (int(rng.choice([i for i in range(8) if roles[i] == r])) for r in range(3))
        match int(rng.integers(5)):
            case 0:
                program.add("tilezero", tile)
            case 1 | 2:
                program.load(tile, noise(1024, int(rng.integers(1 << 30))), shapes[tile][1])
            case 3:
                program.store(tile, shapes[tile])
            case _ if (c + 1) % 8 == a and (a + 1) % 8 == b:
                program.add(str(rng.choice(INT_PRODUCTS)), c, a, b)
            case _:
                program.add("tdpfp16ps", c, a, b)
    program.add("tilerelease")
    return program


@functools.cache
def any_programs() -> list[tuple[Program, bytes]]:
    return [(p, amx_model.run(p)) for p in map(any_program, range(12))]
