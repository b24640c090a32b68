"""Proofs of programs for gathers: what is claimed of them, and forgeries."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import mutated
from proof_makers import lines_of, text_of, verdict

from hbc.cli.main import exit_code_of
from hbc.cli.proofs.statement import Refused
from hbc.cli.sketches.proof import written
from hbc.cli.sketches.proof_gather import gather_proof, is_about_its_gather
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
    assert is_about_its_gather(lines_of(text))


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
    lines = lines_of(text)
    assert is_about_its_gather(lines)
    lines[0]["about"]["bits"] = 8
    assert not is_about_its_gather(lines)


def wrong(key: str, number: int, change: Callable[[Any], None]) -> Callable[[list[Any]], None]:
    """Changes the n-th line that has a key."""

    def forge(lines: list[Any]) -> None:
        change([line for line in lines if key in line][number])

    return forge


def choose(op: int, change: Callable[[list[int]], None]) -> Callable[[list[Any]], None]:
    return wrong("solution", 0, lambda line: change(line["solution"][op]))


FORGERIES: list[tuple[Callable[[list[Any]], None], str]] = [
    (choose(0, lambda codes: codes.reverse()), "does not compute"),
    (choose(0, lambda codes: codes.__setitem__(0, 1 << 20)), "no integers"),
    (choose(0, lambda codes: codes.pop()), "cannot choose so"),
    (wrong("solution", 0, lambda line: line["solution"].pop()), "leaves a hole out"),
    (wrong("of_set", 0, lambda op: op.update({"of_set": 0})), ""),
    (wrong("of_set", 0, lambda op: op.update({"of_set": "anything"})), "no integers"),
    (wrong("of_set", 1, lambda op: op.update({"of": [0]})), "does not compute"),
    (wrong("of_set", 1, lambda op: op.update({"of": [2]})), "no integers"),
    (wrong("of_set", 0, lambda op: op.update({"hole": False})), "has a choice"),
    (wrong("goal", 0, lambda g: g["holds"].reverse()), "does not compute"),
    (wrong("goal", 0, lambda g: g.update({"goal": 1})), "does not compute"),
    (wrong("terms", 0, lambda t: t["terms"].__setitem__(1, t["terms"][0])), "listed twice"),
    (wrong("holds", 0, lambda x: x["holds"].reverse()), ""),
    (wrong("cost", 0, lambda i: i.update({"cost": 0})), "no integers"),
    (wrong("cost", 0, lambda i: i["cell"].__setitem__(1, 1 - i["cell"][1])), "no instruction"),
    (wrong("cost", 0, lambda i: i["cell"].__setitem__(1, 5)), "other cells"),
    (wrong("fewest", 0, lambda o: o.update({"instructions": 1})), "not as many"),
    (wrong("fewest", 0, lambda o: o.update({"fewest": 1})), "not shown to be minimal"),
    (wrong("fewest", 0, lambda o: o.update({"fewest": 3})), "no integers"),
    (lambda lines: lines.pop(-2), "cut off"),
    (lambda lines: lines[0]["claims"].append("all"), "does not know"),
    (lambda lines: lines[0].update({"kind": "sketch"}), "does not know"),
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
    lines[-2]["fewest"] = lines[-2]["instructions"]
    with pytest.raises(Refused, match="not shown"):
        verdict(text_of(lines))


@pytest.mark.parametrize(
    "about", [None, {}, [], {"gather": "x", "bits": 8, "target": "avx512", "features": []},
              {"gather": REVERSED, "bits": 3, "target": "avx512", "features": []},
              {"gather": REVERSED, "bits": 8, "target": "z80", "features": []},
              {"gather": REVERSED, "bits": 8, "target": "avx512", "features": 5}],
    ids=repr,
)  # fmt: skip
def test_about_nothing(about: object) -> None:
    lines = lines_of(proof(REVERSED))
    assert is_about_its_gather(lines)
    lines[0]["about"] = about
    assert not is_about_its_gather(lines)


def test_fewer_instructions_are_another_machine() -> None:
    """Without instructions that choose more, more of the others would be minimal: the table is compared."""
    lines = lines_of(proof(REVERSED))
    lines[1 + next(n for n, line in enumerate(lines[1:]) if "set" in line)]["source"][0][0] = 5
    assert not is_about_its_gather(lines)
    lines = lines_of(proof(REVERSED))
    lines.pop(2)
    assert not is_about_its_gather(lines)
    lines = lines_of(proof(REVERSED))
    lines[0]["about"]["gather"] = TURNED
    assert not is_about_its_gather(lines)


@settings(max_examples=30)
@given(st.data())
def test_what_is_accepted_still_reverses(data: st.DataObject) -> None:
    """Whatever is changed: where instructions and goal are the same, those listed have its effect."""
    lines = lines_of(proof(REVERSED))
    stated = [line for line in lines if "set" in line]
    small = [line for line in lines if "set" not in line]
    mutated(small, data)
    forged = [*small[:2], *stated, *small[2:]]
    try:
        verdict(text_of(forged))
    except Refused:
        return
    if not is_about_its_gather(forged):
        return
    values = [list(range(2, 66))]
    ops = [line for line in forged if "of_set" in line]
    for op, chosen in zip(ops, next(x for x in forged if "solution" in x)["solution"], strict=True):
        table = stated[op["of_set"]]
        held = [v for o in op["of"] for v in values[o]]
        read = [table["source"][i][chosen[table["cell"][i]]] for i in range(64)]
        values.append([held[r] if r >= 0 else r for r in read])
    goal = next(line["goal"] for line in forged if "goal" in line)
    assert values[goal] == list(range(65, 1, -1))
    assert small[-2]["instructions"] == 2 and small[-2]["fewest"] <= 2


def test_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A gather is proven as it was asked for; a layout change by name is not."""
    file = tmp_path / "reversed.proof"
    words = ["--spec", "[i in 64] x[63 - i]", "--proof", str(file)]
    assert exit_code_of(["synth", *words, "-o", str(tmp_path / "reversed.c")]) == 0
    assert verdict(file.read_text("utf-8"))[0] == ["computes", "minimal"]
    assert exit_code_of(["check-proof", str(file), "--json"]) == 0
    assert exit_code_of(["synth", "--spec", "transpose(rows=8, cols=8)", *words[2:]]) == 2
    lines = lines_of(file.read_text("utf-8"))
    lines[0]["about"]["gather"] = TURNED
    file.write_text(text_of(lines), "utf-8")
    assert exit_code_of(["check-proof", str(file)]) == 1
    assert "is a proof, but not about the gather that it names" in capsys.readouterr().err
