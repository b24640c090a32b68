"""`hbc synth --learn`: what it adds to a library, that kernels use it, that nothing wrong in it is used."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from synth_words import synth

from hbc.cli.main import exit_code_of
from hbc.cli.own.described import is_described, table_of
from hbc.cli.own.own_files import own_digest, own_file
from hbc.cli.own.own_movements import use_file, use_own_movements
from hbc.ir.lang.target import ARM, TARGETS, X86
from hbc.ir.movement.chain import Movement
from hbc.ir.movement.library import (
    WIDTHS,
    known_chain,
    library_file,
    numbered,
    read_library,
    use_own,
)

FIVE = ("--spec", "[c in 5, i in 4] x[5*i + c]", "--type", "f32", "--target", "neon", "--learn")
KERNEL = """
kernel five
size N
input  A: f32[N, 5]
output P: f32[5, N]
P[c, i] = A[i, c]
schedule fast for avx2, arm_dot { P.split(i, io, ii, 4).reorder(io, c, ii).vectorize(ii).unroll(c) }
example { N = 37; A = random(1) }
"""


@pytest.fixture(autouse=True)
def folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Path]:
    """A library of this test's own, and none after it."""
    monkeypatch.setenv("HBC_MOVEMENTS", str(tmp_path / "own"))
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "cache"))
    yield tmp_path / "own"
    for machine, widths in WIDTHS.items():
        for width in widths:
            use_own(machine, width, "", ())


def five() -> Movement:
    """What `FIVE` asks for, in units of 32 bits."""
    return Movement(32, 4, 5, tuple(tuple(5 * i + c for i in range(4)) for c in range(5)))


def test_a_gather_is_learned_and_known_afterwards(folder: Path) -> None:
    assert known_chain(five(), ARM) is None and own_digest() == ""
    said = json.loads(synth(*FIVE, "--json").stdout)
    file = folder / ARM / "128.txt"
    assert {one["file"] for one in said["learned"]} == {str(file)}
    taken = next(one for one in said["learned"] if one["want"] == [list(r) for r in five().rows])
    assert taken["bound"] <= taken["instructions"]
    use_file(ARM, 128)
    chain = known_chain(five(), ARM)
    assert chain is not None and chain.cost == taken["instructions"]
    # The steps, executed apart from what proves them.
    values = [np.arange(4) + 4 * s for s in range(5)]
    for step in chain.steps:
        values.append(np.concatenate([values[o] for o in step.operands])[np.maximum(step.row, 0)])
    for row, value in zip(five().rows, chain.outputs, strict=True):
        assert np.array_equal(values[value], row)
    before = own_digest()
    again = json.loads(synth(*FIVE, "--json").stdout)
    assert again == {"learned": [], "known": len(said["learned"]) + said["known"]}
    assert own_digest() == before != ""


def test_a_kernel_learns_what_it_asks_for(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "five.hb"
    file.write_text(KERNEL)
    words = str(file), "--target", "avx2"

    def moved() -> int:
        capfd.readouterr()
        assert exit_code_of(["explain", *words, "--json"]) == 0
        return len(json.loads(capfd.readouterr().out)["movements"])

    assert moved() == 0
    said = synth(*words, "--learn").stdout.splitlines()
    assert said and all(f"in {own_file(X86, 128)}" in line for line in said)
    assert moved() == 1
    assert exit_code_of(["verify", *words]) == 0


STEP = "_mm_shuffle_epi32({{u}}, {})".format
# Bits, the row that is wanted, the row of the step and its C, and what is said of it.
ENTRIES = [
    (64, "1 1", "0 1", STEP(78), "the steps do not do the movement"),
    (32, "1 3 0 2", "1 3 0 2", STEP(140), f"`{STEP(140)}` is not what its step says"),
    (32, "3 3 0 2", "3 3 0 2", "system({u})", "`system({u})` is not what its step says"),
    (32, "2 3 0 1", "2 3 0 1", STEP(78), "it is no movement of registers of 128 bits in its longest units"),
    (32, "-1 1 2 3", "1 1 2 3", STEP(0), "no entry of a library: `-1` is no number"),
    (32, "0 1 2", "0 1 2 3", STEP(0), "no entry of a library: 3 units of 4"),
    (16, "0 1", "0 1", "\0", "no entry of a library: 2 units of 8"),
    (32, "0 2 1 3", "0 2 1 3", STEP(216), ""),
]  # fmt: skip


def entry(bits: int, want: str, row: str, text: str, said: str) -> tuple[str, str]:
    """Its text, and what is wrong with it."""
    head = f"movement {bits} {128 // bits} 1\nwant {want}\n"
    return f"{head}step 0 : {row} : {text}\nmake 1\n", said


def test_wrong_entries_are_named_and_not_used(capsys: pytest.CaptureFixture[str]) -> None:
    """A want that the steps do not make, C that is not what its step says, and what is no entry."""
    use = [entry(*row) for row in ENTRIES]
    file = own_file(X86, 128)
    file.parent.mkdir(parents=True)
    file.write_text("\n".join(text for text, _ in use))
    for _ in range(2):
        use_own_movements(TARGETS["avx2"])
    said = capsys.readouterr().err
    line = 1
    for text, what in use:
        message = (
            f"{file}:{line}:1: warning: an entry of a library of movements is not used: {what}"
        )
        assert said.count(message) == (what != ""), what
        line += text.count("\n") + 1
    assert said.count("warning") == sum(what != "" for _, what in use)
    for row, known in (((1, 1), False), ((1, 0), True)):
        assert (known_chain(Movement(64, 2, 1, (row,)), X86) is not None) == known
    for row, known in (((3, 3, 0, 2), False), ((0, 2, 1, 3), True)):
        assert (known_chain(Movement(32, 4, 1, (row,)), X86) is not None) == known


def test_every_entry_that_comes_with_hbc_says_what_its_code_does() -> None:
    """Of NEON and of 128 bits here; those of all are executed elsewhere."""
    table = table_of(ARM, 128)
    for number, text in numbered(library_file(ARM, 128).read_text("ascii")):
        for m, chain in read_library(text, "", number):
            assert all(is_described(step, m.bits // 8, table) for step in chain.steps), number


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--learn"], "`--learn` takes one thing to learn from"),
        (["--learn", "crc.sf"], "`--learn` takes one thing to learn from"),
        (["--learn", *FIVE[:2], "-o", "a.c"], "`-o` belongs to a sketch, not to --learn"),
        (["--learn", *FIVE[:2], "--target", "hvx"], "no movements are learned for `hvx`"),
        (["--learn", "--spec", "[i in 40] x[i]"], "40 elements do not fill registers of 64"),
        (["--learn", "--spec", "[i in 64] if i < 3 then 0 else x[i]"], "`--learn` knows no zeros"),
    ],
)  # fmt: skip
def test_mistakes(words: list[str], message: str) -> None:
    assert message in synth(*words, code=2).stderr


def test_what_is_learned_keeps_what_is_right(folder: Path) -> None:
    """And nothing else of a file that was there."""
    wrong = "damaged"
    file = folder / ARM / "128.txt"
    file.parent.mkdir(parents=True)
    file.write_text(f"{wrong}\n\n{library_file(ARM, 128).read_text('ascii')}")
    before = file.read_text().count("movement ")
    added = len(json.loads(synth(*FIVE, "--json").stdout)["learned"])
    assert file.read_text().count("movement ") == before + added and wrong not in file.read_text()
