"""Variants of a kernel: the same computation, written by somebody else. A seed gives one of them."""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from kernel_choices import KERNELS, Drawn
from respellings import RESPELLINGS
from spelled import spelled
from tree_maps import words

from hbc.frontend.checks.calls import FUNCTIONS
from hbc.frontend.directives.table import DIRECTIVES
from hbc.frontend.program.vocabulary import MEMORIES, PARTS, TAILS
from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS
from hbc.ir.lang.types import DTYPES

RESERVED = {
    *DTYPES,
    *TARGETS,
    *DIRECTIVES,
    *MEMORIES,
    *PARTS,
    *TAILS,
    *FUNCTIONS,
    "update",
    "in",
    "tail",
}
SYLLABLES = (
    "ba",
    "cho",
    "du",
    "fen",
    "go",
    "lim",
    "mo",
    "ner",
    "pi",
    "ro",
    "sat",
    "tu",
    "Wek",
    "Zo",
)
CHANCE = 0.4  # of each respelling


def variant(kernel: str, seed: int) -> Drawn:
    """Variant number `seed` of a kernel of `KERNELS`, always the same."""
    r = Random(f"{kernel} {seed}")
    drawn = KERNELS[kernel](r)
    file = parse(Source("drawn.hb", drawn.text))
    for respell in RESPELLINGS:
        if r.random() < CHANCE:
            file = respell(file, r)
    text, sizes = spelled(file), drawn.sizes
    if r.random() < CHANCE:
        names = new_names(file, r)
        text = re.sub(r"[A-Za-z_]\w*", lambda m: names.get(m[0], m[0]), text)
        sizes = {names[n]: v for n, v in sizes.items()}
    return replace(drawn, text=text, sizes=sizes)


def new_names(file: ast.File, r: Random) -> dict[str, str]:
    """Another name for each that the file uses."""
    names: dict[str, str] = {}
    for old in sorted(words(file) - RESERVED):
        new = ""
        while not new or new in RESERVED or new in names.values():
            new = "".join(r.choice(SYLLABLES) for _ in range(r.randint(2, 3)))
        names[old] = new
    return names
