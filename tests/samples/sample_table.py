"""Every sample and the sizes it is tried at: one, primes, less than a tile, tiles and a bit more."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from hbc.cli.files.inputs import gather_inputs
from hbc.frontend.checks.check import check
from hbc.frontend.oracle.oracle import Reference, evaluate
from hbc.frontend.program.funcs import Example, Fill, Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

FOLDER = Path(__file__).resolve().parents[2] / "samples"

Array = np.ndarray[Any, Any]
Sizes = Mapping[str, int]
Types = tuple[tuple[str, str], ...]
"""Type parameters of a sample and the types they are given."""


@dataclass(frozen=True, slots=True)
class Case:
    """A sample at some sizes: random inputs and what must come out."""

    sizes: Sizes
    inputs: Mapping[str, Array]
    references: Mapping[str, Reference]


def _sets(names: str, *values: tuple[int, ...]) -> tuple[Sizes, ...]:
    return tuple(dict(zip(names.split(), v, strict=True)) for v in values)


GEMM = _sets("M N K", (96, 128, 64), (1, 1, 1), (7, 13, 5), (13, 67, 31), (37, 131, 17), (6, 64, 1))
CONV1D = _sets(
    "H W T",
    (8, 128, 64),
    (1, 1, 1),
    (3, 5, 2),
    (5, 67, 17),
    (7, 131, 37),
    (2, 66, 101),
    (2, 300, 64),
    (3, 261, 45),
)
CONV2D = _sets(
    "H W T",
    (16, 64, 8),
    (1, 1, 1),
    (3, 5, 2),
    (11, 37, 5),
    (17, 67, 3),
    (19, 33, 13),
    (5, 70, 32),
    (6, 129, 16),
)
RESIZE = _sets(
    "H W OH OW TH TW",
    (64, 64, 32, 32, 19, 43),  # halved
    (1, 1, 1, 1, 1, 1),
    (67, 53, 29, 23, 22, 50),
    (131, 101, 17, 7, 71, 101),
    (31, 37, 31, 37, 10, 22),
    (29, 41, 61, 71, 10, 22),  # enlarged
)
LAYER = _sets(
    "N H W C K", (2, 4, 10, 8, 64), (1, 1, 1, 1, 1), (1, 3, 7, 5, 13), (2, 2, 13, 3, 67),
    (1, 5, 5, 17, 131),
)  # fmt: skip
UNIT = _sets(
    "H W C K", (8, 9, 16, 32), (3, 3, 1, 1), (5, 7, 5, 13), (4, 17, 19, 67), (6, 12, 131, 33)
)
UNIT_3D = _sets("D H W C K", (5, 6, 9, 16, 32), (3, 3, 3, 1, 1), (3, 4, 17, 19, 67))
DEPTHWISE = _sets("H W C", (8, 9, 64), (3, 3, 1), (5, 17, 37), (6, 4, 131))
GROUPED = _sets("H W G C K", (8, 9, 3, 16, 32), (3, 3, 1, 1, 1), (5, 17, 2, 19, 37))
BLOCKED = _sets("H W C K", (8, 9, 2, 3), (3, 3, 1, 1), (5, 17, 3, 2))
ATTENTION = _sets("B L D", (2, 64, 64), (1, 1, 1), (1, 5, 3), (2, 37, 17), (1, 67, 71), (3, 13, 33))
PICTURE = _sets("H W", (64, 64), (1, 1), (3, 5), (37, 53), (33, 131), (17, 7))
SIGNAL = _sets("N", (256,), (1,), (2,), (3,), (67,), (1009,))

SAMPLES: dict[str, tuple[Sizes, ...]] = {
    "gemm_f32": GEMM,
    "gemm_bf16": GEMM,
    "gemm_u8s8": GEMM,
    "gemm_requant": GEMM,
    "conv1d": CONV1D,
    "conv1d_bf16": CONV1D,
    "conv1d_u8s8": CONV1D,
    "conv2d": CONV2D,
    "downsample": CONV2D,
    "downsample_bf16": CONV2D,
    "upsample": CONV2D,
    "resize": RESIZE,
    "recursive": SIGNAL,
    "recursive_bf16": SIGNAL,
    "denoise": PICTURE,
    "denoise_bf16": PICTURE,
    "conv_layer": LAYER,
    "conv_layer_u8s8": LAYER,
    "conv2d_u8s8": UNIT,
    "conv2d_bf16": UNIT,
    "conv2d_nchwc_u8s8": BLOCKED,
    "conv3d_u8s8": UNIT_3D,
    "depthwise_u8s8": DEPTHWISE,
    "grouped_u8s8": GROUPED,
    "attention": ATTENTION,
    "attention_fused": ATTENTION,
    "tutorial/01_copy": PICTURE,
    "tutorial/02_brighten": PICTURE,
    "tutorial/03_blur": PICTURE,
    "tutorial/04_reduction": PICTURE,
    "tutorial/05_scan": SIGNAL,
    "tutorial/06_no_schedule": PICTURE,
    "tutorial/07_tune_it": GEMM,
    "tutorial/08_tensor_instruction": GEMM,
    "tutorial/09_gpu": PICTURE,
    "tutorial/10_why_slow": PICTURE,
}


# For samples with type parameters, the types that a target's instructions are for.
TYPES: dict[tuple[str, str], Types] = {
    ("conv2d", "avx512vnni"): (("TI", "u8"), ("TK", "i8"), ("TO", "i32")),
    ("conv2d", "avx512bf16"): (("TI", "bf16"), ("TK", "bf16")),
    ("conv2d", "amx"): (("TI", "bf16"), ("TK", "bf16")),
    ("conv_layer", "amx"): (("T", "bf16"),),
    ("downsample_bf16", "avx512vnni"): (("TI", "u8"), ("TK", "i8"), ("TO", "i32")),
    ("upsample", "avx512vnni"): (("TI", "u8"), ("TK", "i8"), ("TO", "i32")),
    ("upsample", "avx512bf16"): (("TI", "bf16"), ("TK", "bf16")),
    ("conv_layer", "avx512bf16"): (("T", "bf16"),),
}


# Where a schedule is for some sizes, one of those (272) beside others.
PARTICULAR: dict[tuple[str, str], tuple[Sizes, ...]] = {
    ("recursive_bf16", "amx"): _sets("N", (16,), (272,), (67,), (1009,)),
}


@cache
def load(name: str, types: Types = ()) -> Pipeline:
    """The sample, checked, with these types."""
    path = FOLDER / f"{name}.hb"
    return check(parse(Source(str(path), path.read_text(encoding="utf-8"))), dict(types))


def _fills(p: Pipeline) -> tuple[tuple[str, Fill], ...]:
    """Random, each input from its own seed; floats of both signs, integers of the whole range."""
    limits = {i.name: (-1, 1) if i.element.is_float else () for i in p.inputs}
    return tuple(
        (name, Fill("random", (seed, *limit))) for seed, (name, limit) in enumerate(limits.items())
    )


@cache
def cases(name: str, types: Types = (), target: str = "") -> tuple[Case, ...]:
    """The sample at each of its sizes, or of those that its schedule for the target allows."""
    p = load(name, types)
    found = []
    for sizes in PARTICULAR.get((name, target), SAMPLES[name]):
        settings = {size: str(value) for size, value in sizes.items()}
        run = gather_inputs(p, settings, Example("", (), _fills(p)), {})
        found.append(Case(sizes, run.inputs, evaluate(p, run.sizes, run.inputs)))
    return tuple(found)
