"""Layout changes by name: minimal counts, the code against NumPy, the words of the command."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import compiled_moves as native
import numpy as np
import pytest
from numpy.typing import NDArray
from synth_words import synth

from hbc.cli.sketches.layout_moves import Moves, cheapest_moves
from hbc.cli.sketches.synth_code import movement_code, printer_of
from hbc.frontend.sketch.layout_spec import parse_spec
from hbc.ir.ground.diag import UsageError
from hbc.synth.prunings.watch import Watch

Array = NDArray[Any]


@cache  # seconds of search
def moves(text: str, target: str, vbmi: bool) -> Moves:
    spec = parse_spec(text, printer_of(target).register_bits)
    return cheapest_moves(spec, target, vbmi, Watch)


def changed(name: str, inputs: list[Array], first: int, second: int) -> list[Array]:
    """What NumPy says. Independent of hbc's gathers."""
    match name:
        case "transpose":
            return [inputs[0].reshape(first, second).T.copy()]
        case "interleave" | "soa_to_aos":
            return [np.stack(inputs, axis=1)]
        case _:
            return list(inputs[0].reshape(second, first).T.copy())


# change, target, vbmi, instructions
CASES = [
    ("transpose(rows=8, cols=8, f32)", "avx512", False, 8),
    ("transpose(rows=8, cols=8, f32)", "avx2", False, 24),
    ("transpose(rows=4, cols=4, f32)", "avx512", False, 1),
    ("transpose(rows=4, cols=4, f64)", "avx2", False, 8),
    ("transpose(rows=16, cols=16, bytes)", "avx512", False, 12),
    ("transpose(rows=16, cols=16, bytes)", "avx512", True, 8),
    ("transpose(rows=5, cols=3, i16)", "avx512", False, 1),
    ("interleave(k=4, bytes)", "avx512", False, 12),
    ("interleave(k=4, bytes)", "avx512", True, 8),
    ("interleave(k=2, u16)", "avx512", False, 2),
    ("interleave(k=2, bytes)", "avx2", False, 4),
    ("deinterleave(k=2, count=32, i32)", "avx2", False, 16),
    ("aos_to_soa(channels=3, f32)", "avx512", False, 6),
    ("aos_to_soa(channels=4, f32)", "avx512", False, 8),
    ("aos_to_soa(channels=3, bytes)", "avx512", True, 6),
    ("aos_to_soa(channels=3, f32)", "avx2", False, 9),
    ("aos_to_soa(channels=3, count=5, u8)", "avx2", False, 3),
    ("soa_to_aos(channels=3, f32)", "avx512", False, 6),
    ("soa_to_aos(channels=4, f64)", "avx2", False, 8),
]


@pytest.mark.parametrize(("text", "target", "vbmi", "count"), CASES)
def test_code_does_the_change(
    text: str, target: str, vbmi: bool, count: int, tmp_path: Path
) -> None:
    found = moves(text, target, vbmi)
    assert found.instructions == count
    native.require(target)
    spec, name = found.spec, found.movement.name
    code = movement_code(found.movement, target, spec.dtype, vbmi, found.facts)
    generator = np.random.default_rng(1)
    sizes = [int(np.prod(shape)) for shape in spec.change.inputs]
    results = [int(np.prod(shape)) for shape in spec.change.outputs]
    kind, _, rest = spec.title.partition("(")
    first, second = (int(part.partition("=")[2]) for part in rest.split(",")[:2])
    third = CASES.index((text, target, vbmi, count)) % 3 == 0
    for compiler in native.COMPILERS[: None if third else 1]:
        loaded = native.library(code, target, tmp_path, compiler.command)
        blocks = 3
        inputs = [native.random_values(generator, n * blocks, spec.dtype.name) for n in sizes]
        outputs = [native.poisoned(inputs[0], n * blocks) for n in results]
        native.call(loaded, name, inputs, outputs, blocks)
        for block in range(blocks):
            parts = [a[block * n : (block + 1) * n] for a, n in zip(inputs, sizes, strict=True)]
            wanted = changed(kind, parts, first, second)
            for got, n, right in zip(outputs, results, wanted, strict=True):
                part = got[block * n : (block + 1) * n]
                assert part.tobytes() == right.tobytes()
        assert all(native.intact(got, n * blocks) for got, n in zip(outputs, results, strict=True))


def test_what_is_proven_is_said() -> None:
    found = moves("interleave(k=4, bytes)", "avx512", False)
    assert found.minimal
    assert found.facts == [
        "interleave(k=4, count=64, u8): 12 instructions",
        "some register has elements of more than 2 others: so many stages",
        "2 stages: none, all candidates searched",
        "3 stages of one instruction for each register: found",
    ]
    three = moves("aos_to_soa(channels=3, f32)", "avx512", False)
    assert three.minimal
    assert three.facts[1] == "every register made by itself, which takes 6 or more"
    assert not moves("aos_to_soa(channels=3, f32)", "avx2", False).minimal
    assert moves("transpose(rows=4, cols=4, f32)", "avx512", False).minimal


def test_json() -> None:
    value = json.loads(synth("--spec", "interleave(k=2, u16)", "--json").stdout)
    assert value["instructions"] == 2
    assert value["minimal"] is True
    assert value["function"] == "interleave_2x32_u16"
    assert "void interleave_2x32_u16(" in value["code"]


@pytest.mark.parametrize(
    ("text", "target", "count", "minimal"),
    [
        ("transpose(rows=8, cols=8, bytes)", "avx512", 2, True),
        ("transpose(rows=32, cols=32, f32)", "avx512", 256, True),
        ("aos_to_soa(channels=3, bytes)", "avx512", 15, False),
        ("soa_to_aos(channels=3, bytes)", "avx512", 9, False),
        ("aos_to_soa(channels=3, bytes)", "avx2", 12, False),
        ("soa_to_aos(channels=3, count=20, bytes)", "avx2", 10, False),
    ],
)
def test_other_programs_than_stages(
    text: str, target: str, count: int, minimal: bool, tmp_path: Path
) -> None:
    """The command takes whichever is shorter; its code is executed."""
    value = json.loads(synth("--spec", text, "--target", target, "--json").stdout)
    assert (value["instructions"], value["minimal"]) == (count, minimal)
    assert value["gap"] == count - value["bound"] >= 0
    native.require(target)
    spec = parse_spec(text, printer_of(target).register_bits)
    kind, _, rest = spec.title.partition("(")
    first, second = (int(part.partition("=")[2]) for part in rest.split(",")[:2])
    generator = np.random.default_rng(2)
    sizes = [int(np.prod(shape)) for shape in spec.change.inputs]
    results = [int(np.prod(shape)) for shape in spec.change.outputs]
    loaded = native.library(value["code"], target, tmp_path, native.COMPILERS[0].command)
    inputs = [native.random_values(generator, n, spec.dtype.name) for n in sizes]
    outputs = [native.poisoned(inputs[0], n) for n in results]
    native.call(loaded, value["function"], inputs, outputs)
    for got, n, right in zip(outputs, results, changed(kind, inputs, first, second), strict=True):
        assert got[:n].tobytes() == right.tobytes()
        assert native.intact(got, n)


def test_a_file_is_written(tmp_path: Path) -> None:
    out = tmp_path / "pack.c"
    said = synth("--spec", "interleave(k=2, u16)", "--target", "avx2", "-o", str(out)).stdout
    assert said.splitlines()[0] == "interleave(k=2, count=16, u16): 4 instructions"
    assert "_mm256_" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("interleave", "`interleave` is no layout change"),
        ("interlace(k=2)", "there is no layout change `interlace`"),
        ("interleave(count=4)", "`interleave` needs `k`"),
        ("transpose(rows=4)", "`transpose` needs `cols`"),
        ("interleave(k=0)", "`k=0` has no meaning here"),
        ("interleave(k=2, banana)", "`banana` has no meaning here"),
        ("interleave(k=4000, u8)", "256000 elements are too many"),
    ],
)
def test_mistakes(text: str, message: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_spec(text, 512)
    assert message in str(raised.value.diagnostics[0].message)
