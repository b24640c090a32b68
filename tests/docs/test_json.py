"""What commands print with `--json` is what docs/json.schema.json says, and docs/json.md is made from it."""

from __future__ import annotations

import copy
import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from hbc.cli.main import COMMANDS, commands
from hbc.cli.roof import costs, team
from hbc.cli.runs.native import Repeat

DOCS = Path(__file__).parents[2] / "docs"
SAMPLES = Path(__file__).parents[2] / "samples"
SCHEMA: dict[str, Any] = json.loads((DOCS / "json.schema.json").read_text(encoding="utf-8"))
SMALL = [word for size in ("M=16", "N=16", "K=16") for word in ("--set", size)]
GEMM = str(SAMPLES / "gemm_f32.hb")
SKETCH = """
param n = 4
set turns(a: [n]) = \\i. a[(i + c) % n] for c in 0 .. n
x: [n]
out: [n] = ?turns(x)
goal out == [i in n] x[(i + 1) % n]
"""
WRONG = "size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = A[i + 1]\n"


def closed(value: Any) -> Any:
    """The schema for hbc itself, whose every key is to be described."""
    if isinstance(value, dict):
        made = {key: closed(inner) for key, inner in value.items()}
        if value.get("type") == "object" and "properties" in value:
            made["additionalProperties"] = False
        return made
    return [closed(inner) for inner in value] if isinstance(value, list) else value


def validate(printed: str, definition: str) -> None:
    jsonschema = pytest.importorskip("jsonschema", reason="pip install -e '.[dev]'")
    strict = closed(copy.deepcopy(SCHEMA))
    strict["$ref"] = f"#/$defs/{definition}"
    del strict["anyOf"]
    jsonschema.Draft202012Validator(strict).validate(json.loads(printed))


CASES = [
    ("check", ["check", GEMM], 0),
    ("check", ["check", "wrong.hb"], 1),
    ("compile", ["compile", GEMM, "-o", "out"], 0),
    ("compile_together", ["compile", GEMM, "--targets", "c,avx2", "-o", "out"], 0),
    ("run", ["run", GEMM, *SMALL, "--target", "c"], 0),
    ("verify", ["verify", GEMM, *SMALL, "--target", "c"], 0),
    ("bench", ["bench", GEMM, *SMALL, "--target", "c", "--seconds", "0.01"], 0),
    ("tune", ["tune", GEMM, *SMALL, "--target", "c", "--time", "1"], 0),
    ("diff", ["diff", GEMM, GEMM, "--target", "c"], 0),
    ("inspect", ["inspect", str(SAMPLES / "gemm_bf16.hb"), "--target", "amx"], 0),
    ("explain", ["explain", str(SAMPLES / "gemm_bf16.hb"), "--target", "amx"], 0),
    ("explain", ["explain", GEMM, "--target", "c"], 0),
    ("synth", ["synth", "turn.sf"], 0),
    ("synth", ["synth", "turn.sf", "--explain-cost", "--proof", "turn.proof"], 0),
    ("synth", ["synth", "turn.sf", "--count"], 0),
    ("check_proof", ["check-proof", "turn.proof"], 0),
    ("synth_spec", ["synth", "--spec", "interleave(k=2, bytes)", "--target", "avx512"], 0),
    ("synth_gather", ["synth", "--spec", "[i in 16] x[15 - i]", "--target", "avx2", "--type", "u8"], 0),
    ("targets", ["targets"], 0),
    ("machine", ["machine"], 0),
    ("passes", ["passes"], 0),
    ("passes", ["passes", "--target", "cuda"], 0),
    ("instructions", ["instructions"], 0),
    ("doctor", ["doctor"], 0),
    ("cache", ["cache"], 0),
]  # fmt: skip


def test_outputs_are_as_described(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In one test: a proof is checked that another command wrote."""
    monkeypatch.chdir(tmp_path)
    # What is measured need not be right.
    monkeypatch.setattr(costs, "MOST_ROUNDS", costs.LEAST_ROUNDS)
    monkeypatch.setattr(team, "REPEAT", Repeat(least=1, most=1))
    monkeypatch.setattr(team, "BYTES_PER_CALL", 1 << 22)
    Path("turn.sf").write_text(SKETCH, encoding="utf-8")
    Path("wrong.hb").write_text(WRONG, encoding="utf-8")
    for definition, arguments, code in CASES:
        done = CliRunner().invoke(commands, [*arguments, "--json"])
        assert done.exit_code == code, (arguments, done.output)
        validate(done.stdout, definition)


def test_every_command_with_json_is_described() -> None:
    described = {each["$ref"].rpartition("/")[2] for each in SCHEMA["anyOf"]}
    assert described == {definition for definition, _, _ in CASES} | {"tune_layers"}
    for name in COMMANDS:
        command = commands.get_command(commands.make_context("hbc", [name]), name)
        assert command is not None
        if any("--json" in parameter.opts for parameter in command.params):
            assert name.replace("-", "_") in described, name


def test_the_page_is_made_from_the_schema() -> None:
    made = runpy.run_path(str(DOCS / "make_json.py"))["page"]()
    assert (DOCS / "json.md").read_text(encoding="utf-8") == made, "python docs/make_json.py"
