"""Proofs about sketches: the published benchmarks and random sketches prove what they claim."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from pathlib import Path

import pytest
from brute_sketches import Sketch, sketches
from hypothesis import given, settings
from proof_makers import (
    NONE,
    SKETCHES,
    SMALL,
    holds,
    lines_of,
    sample_proof,
    text_of,
    text_proof,
    verdict,
)  # fmt: skip

from hbc.cli.sketches.proof import is_about
from hbc.frontend.sketch.elaborate import load_sketch
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source, Span

ROOM = Path(__file__).parents[3] / "cli" / "proofs"
OUTER = {"wrap": "outer"}
# Of each published benchmark one that is small enough for every run.
PUBLISHED = [
    ("crc", {"s": 3, **OUTER}, 2),
    ("rcr", {"s": 3, **OUTER}, 3),
    ("sum", {"s": 3, **OUTER}, 2),
    ("conv1d", {"k": 3, **OUTER}, 1),
    ("conv1d_wswizzled", {"k": 3, **OUTER}, 2),
    ("stencil1d", {"k": 3, **OUTER}, 2),
    ("stencil2d", {"k": 3, **OUTER}, 4),
    ("ffm4", OUTER, 2),
    ("hvx_gaussian", {}, 4),
    ("crc", {"s": 2, **OUTER}, 0),
]
# `make proofs`: minutes.
LARGER = [
    ("crc", {"s": 8}, 8), ("crc", {"s": 13, **OUTER}, 2), ("rcr", {"s": 4, **OUTER}, 128),
    ("rcr", {"s": 8}, 153), ("rcr", {"s": 13, **OUTER}, 3), ("sum", {"s": 8}, 34),
    ("conv1d", {"k": 11, **OUTER}, 1), ("conv1d", {"k": 17, **OUTER}, 1), ("stencil2d", {"k": 7, **OUTER}, 4),
    ("stencil1d", {"k": 9, **OUTER}, 1), ("ffm8", OUTER, 2), ("ffm8_shared", {"level": 1, **OUTER}, 8),
]  # fmt: skip
PROVEN = [*PUBLISHED, *(LARGER if "HBC_PROOFS" in os.environ else [])]


@pytest.mark.timeout(300)
@pytest.mark.parametrize(("name", "parameters", "count"), PROVEN, ids=str)
def test_published_benchmarks_are_proven(
    name: str, parameters: dict[str, int | str], count: int
) -> None:
    claims, facts = verdict(sample_proof(name, **parameters))
    assert claims == (["computes", "all"] if count else ["none"])
    assert facts[-1].startswith(f"all: there are {count} solutions" if count else "none: ")


def test_a_smaller_set_is_another_sketch(tmp_path: Path) -> None:
    """Without a gather that is part of no solution a proof holds, of another sketch: `--sketch` tells."""
    sketch = tmp_path / "small.sf"
    sketch.write_text(SMALL, "utf-8")
    lines = lines_of(text_proof(SMALL))
    assert is_about(lines, sketch, {})
    given = next(line for line in lines if "set" in line)
    given["gathers"].pop()
    assert verdict(text_of(lines)) and holds(lines)
    assert not is_about(lines, sketch, {})


@pytest.mark.parametrize("text", [SMALL, NONE])
def test_small_proofs_are_true(text: str) -> None:
    proof = text_proof(text)
    assert verdict(proof)
    assert holds(lines_of(proof))


def no_imports(path: str, span: Span) -> Source:
    raise AssertionError(path)


@settings(max_examples=60)
@given(sketches())
def test_random_sketches(sketch: Sketch) -> None:
    """What is proven is what plain enumeration finds."""
    try:
        load_sketch(Source("random.sf", sketch.text()), {}, no_imports)
    except HbcError:
        return  # contradictory goals
    proof = text_proof(sketch.text())
    claims, _ = verdict(proof)
    count = sketch.solutions()
    assert claims == (["computes", "all"] if count else ["none"])
    assert not count or lines_of(proof)[0]["solutions"] == count


def test_the_checker_imports_nothing_else() -> None:
    """Of hbc only itself, and of others NumPy."""
    for file in ROOM.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                own = name.startswith("hbc.cli.proofs")
                assert own or name.partition(".")[0] in {*sys.stdlib_module_names, "numpy"}, name


def run(*words: str | Path, code: int = 0) -> str:
    command = [sys.executable, "-m", "hbc.cli.main", *map(str, words)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout if code == 0 else done.stderr


def test_commands(tmp_path: Path) -> None:
    proof, sketch = tmp_path / "ffm4.proof", SKETCHES / "ffm4.sf"
    run("synth", sketch, "--count", "--proof", proof)
    assert "there are 2 solutions and no other" in run("check-proof", proof)
    run("check-proof", proof, "--sketch", sketch)
    other = run("check-proof", proof, "--sketch", sketch, "--set", "wrap=outer", code=1)
    assert other.startswith("error: ") and "is a proof, but not about" in other
    proof.write_text(proof.read_text("utf-8").replace('"solutions":2', '"solutions":1'), "utf-8")
    refused = run("check-proof", proof, code=1)
    assert "proves nothing" in refused and refused.count("\n") == 1


def test_no_solution_is_proven_too(tmp_path: Path) -> None:
    proof = tmp_path / "crc.proof"
    words = ("--set", "s=2", "--set", "wrap=outer", "--proof", proof)
    run("synth", SKETCHES / "crc.sf", *words, code=5)
    assert "there is no solution" in run("check-proof", proof)
