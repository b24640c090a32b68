"""Proofs of programs for gathers: what is claimed of them, and forgeries."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import mutated
from proof_makers import lines_of, text_of, verdict

from hbc.cli.main import exit_code_of
from hbc.cli.proofs.statement import Refused
from hbc.cli.sketches.proof import written
from hbc.cli.sketches.proof_gather import gather_proof
from hbc.cli.sketches.shuffles import find_shuffle, shuffle_machine
from hbc.frontend.sketch.gather_text import parse_gather

VBMI = frozenset({"vbmi"})
REVERSED = "x: [64] [i in 64] x[63 - i]"
TURNED = "x: [8, 8] [i in 8, j in 8] x[j, i]"


@cache
def proof(goal: str, target: str = "avx512", size: int = 1, vbmi: bool = False) -> str:
    found = parse_gather(goal, size, 1 << 14)
    shuffle = find_shuffle(found.gather, size, shuffle_machine(target, vbmi), lambda: None)
    assert shuffle is not None
    return written(
        gather_proof(goal, goal, 8 * size, target, VBMI if vbmi else frozenset(), shuffle)
    )


@cache
def proof_below_bytes(goal: str, target: str, bits: int, gfni: bool) -> str:
    found = parse_gather(goal, Fraction(bits, 8), 1 << 14)
    shuffle = find_shuffle(
        found.gather, 1, shuffle_machine(target, False, bits, gfni), lambda: None
    )
    assert shuffle is not None
    features = frozenset({"gfni"} if gfni else ())
    return written(gather_proof(goal, goal, bits, target, features, shuffle))


@pytest.mark.parametrize(
    ("goal", "target", "size", "vbmi", "count", "claim"),
    [
        (REVERSED, "avx512", 1, False, 2, "minimal"),
        (REVERSED, "avx512", 1, True, 1, "minimal"),
        (TURNED, "avx512", 1, False, 2, "minimal"),
        (TURNED, "avx2", 1, False, 8, "at least"),
        ("x: [16] [i in 16] if i < 8 then x[2*i + 1] else 0", "avx2", 4, False, 3, "at least"),
        ("x: [64] [i in 64] x[i]", "avx512", 1, False, 0, "minimal"),
        ("x: [32] [c in 2, i in 16] x[2*i + c]", "avx512", 4, False, 2, "minimal"),
        ("x: [16] [c in 2, i in 8] x[2*i + c]", "avx2", 4, False, 4, "minimal"),
        ("x: [3, 16] [i in 16, c in 3] x[c, i]", "avx512", 4, False, 6, "minimal"),
        ("x: [24] [c in 3, i in 8] x[3*i + c]", "avx2", 4, False, 9, "at least"),
        (TURNED, "neon", 1, False, 4, "minimal"),
        (TURNED, "sve256", 1, False, 4, "minimal"),
        ("x: [16, 16] [i in 16, j in 16] x[j, i]", "neon", 1, False, 32, "minimal"),
        ("x: [48] [c in 3, i in 16] x[3*i + c]", "neon", 1, False, 3, "minimal"),
        ("x: [64] [i in 16] x[(7*i + 3) % 64]", "neon", 1, False, 1, "minimal"),
        ("x: [112] [i in 16] x[7*i]", "neon", 1, False, 2, "minimal"),
        ("x: [128] [i in 16] x[8*i + 1]", "neon", 1, False, 3, "minimal"),
        ("x: [16] [i in 16] if i < 5 then x[i * 7 % 16] else 0", "neon", 1, False, 1, "minimal"),
        ("x: [16] [i in 16] if i < 2 then x[3 * i] else 0", "neon", 4, False, 2, "minimal"),
        ("x: [128] [i in 64] if i % 3 == 2 then _ else x[2i]", "avx512", 1, False, 3, "at least"),
    ],
)
def test_claims(goal: str, target: str, size: int, vbmi: bool, count: int, claim: str) -> None:
    text = proof(goal, target, size, vbmi)
    assert verdict(text)[0] == ["computes", claim]
    assert lines_of(text)[-2]["instructions"] == count


@pytest.mark.parametrize(
    ("goal", "target", "bits", "gfni", "count", "claim"),
    [
        ("x: [32] [i in 32] x[i / 2 * 2 + 1 - i % 2]", "neon", 4, False, 2, "minimal"),
        ("x: [128] [i in 128] x[i/8*8 + 7 - i%8]", "neon", 1, False, 1, "minimal"),
        ("x: [512] [i in 512] x[i/8*8 + 7 - i%8]", "avx512", 1, True, 1, "minimal"),
        ("x: [64] [i in 64] x[i / 2 * 2 + 1 - i % 2]", "avx2", 4, False, 5, "at least"),
    ],
)
def test_claims_below_bytes(
    goal: str, target: str, bits: int, gfni: bool, count: int, claim: str
) -> None:
    text = proof_below_bytes(goal, target, bits, gfni)
    assert verdict(text)[0] == ["computes", claim]
    assert lines_of(text)[-2]["instructions"] == count
    other = re.sub(r'"bits": ?\d', '"bits":8', text)
    assert other != text
    with pytest.raises(Refused):
        verdict(other)


def wrong(key: str, number: int, change: Callable[[Any], None]) -> Callable[[list[Any]], None]:
    """Changes the n-th line that has a key."""

    def forge(lines: list[Any]) -> None:
        change([line for line in lines if key in line][number])

    return forge


FORGERIES: list[tuple[Callable[[list[Any]], None], str]] = [
    (wrong("op", 0, lambda op: op["choose"]["j"].reverse()), "makes something else"),
    (wrong("op", 0, lambda op: op["choose"]["j"].__setitem__(0, 32)), "cannot choose so"),
    (wrong("op", 0, lambda op: op["choose"]["j"].pop()), "cannot choose so"),
    (wrong("op", 0, lambda op: op.update({"op": "permute_blocks 0"})), ""),
    (wrong("op", 0, lambda op: op.update({"op": "anything"})), "damaged"),
    (wrong("op", 0, lambda op: op["with"].update({"unit": 8, "g": 1})), "no such form"),
    (wrong("op", 1, lambda op: op.update({"of": [0]})), "makes something else"),
    (wrong("op", 1, lambda op: op.update({"of": [2]})), "no integers"),
    (wrong("goal", 0, lambda g: g.update({"goal": TURNED})), "makes something else"),
    (wrong("goal", 0, lambda g: g.update({"goal": "x: [64] [i in 64] x[64 - i]"})), "outside"),
    (wrong("goal", 0, lambda g: g.update({"goal": "x: [64] [i in 64] " + "(" * 9999})), "too deep"),
    (wrong("goal", 0, lambda g: g.update({"goal": "x: [999999999] [i in 64] x[i]"})), "too large"),
    (wrong("goal", 0, lambda g: g.update({"size": 2})), "makes something else"),
    (wrong("machine", 0, lambda m: m.update({"machine": "../../x.sf"})), "described nowhere"),
    (wrong("machine", 0, lambda m: m.update({"vbmi": 1})), "not shown"),
    (wrong("outputs", 0, lambda o: o.update({"instructions": 1})), "not as many"),
    (wrong("outputs", 0, lambda o: o.update({"least": 1})), "not shown to be minimal"),
    (wrong("outputs", 0, lambda o: o.update({"least": 3})), "no integers"),
    (wrong("outputs", 0, lambda o: o.update({"outputs": [1]})), "makes something else"),
    (lambda lines: lines[0]["claims"].append("all"), "does not know"),
    (lambda lines: lines.insert(3, lines[1]), ""),
]  # fmt: skip


@pytest.mark.parametrize(("forge", "why"), FORGERIES)
def test_forged(forge: Callable[[list[Any]], None], why: str) -> None:
    lines = lines_of(proof(REVERSED))
    forge(lines)
    with pytest.raises(Refused) as refused:
        verdict(text_of(lines))
    assert why in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize(("target", "size"), [("avx2", 1), ("neon", 2)])
def test_what_is_not_shown_is_not_claimed(target: str, size: int) -> None:
    lines = lines_of(proof(TURNED, target, size))
    lines[0]["claims"] = ["computes", "minimal"]
    lines[-2]["least"] = lines[-2]["instructions"]
    with pytest.raises(Refused, match="not shown"):
        verdict(text_of(lines))


@settings(max_examples=100)
@given(st.data())
def test_what_is_accepted_still_reverses(data: st.DataObject) -> None:
    """Whatever else is changed: where the goal is the same, the instructions have its effect."""
    lines = lines_of(proof(REVERSED))
    mutated(lines, data)
    try:
        verdict(text_of(lines))
    except Refused:
        return
    assert lines[2] == lines_of(proof(REVERSED))[2] or "goal" in lines[2]
    words = np.array(lines[3]["choose"]["j"]).repeat(2) * 2 + np.tile([0, 1], 32)
    inside = np.arange(64) // 16 * 16 + np.array(lines[4]["choose"]["j"])
    assert (words[inside] == np.arange(64)[::-1]).all()
    assert lines[-2]["instructions"] == 2 and lines[-2]["least"] <= 2


def test_commands(tmp_path: Path) -> None:
    """A gather is proven as it was asked for; a layout change by name is not."""
    file = tmp_path / "reversed.proof"
    words = ["--spec", "[i in 64] x[63 - i]", "--proof", str(file)]
    assert exit_code_of(["synth", *words, "-o", str(tmp_path / "reversed.c")]) == 0
    assert verdict(file.read_text("utf-8"))[0] == ["computes", "minimal"]
    assert exit_code_of(["check-proof", str(file), "--json"]) == 0
    assert exit_code_of(["synth", "--spec", "transpose(rows=8, cols=8)", *words[2:]]) == 2
