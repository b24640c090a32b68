"""`hbc check-proof`: verifies what `hbc synth --proof` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hbc.cli.show.options import json_option, settings_option
from hbc.cli.show.report import Json, print_facts, print_json
from hbc.ir.ground.diag import Diagnostic, HbcError, UsageError

if TYPE_CHECKING:
    from hbc.cli.proofs.check import Verdict


@click.command("check-proof")
@click.argument("file", type=click.Path(path_type=Path, allow_dash=True))
@click.option(
    "--sketch",
    type=click.Path(path_type=Path),
    metavar="SKETCH",
    help="Also compare: the proof is about this sketch, with the parameters that --set gives.",
)
@settings_option
@json_option
def command(file: Path, sketch: Path | None, settings: Mapping[str, str], as_json: bool) -> None:
    """Verify the proof FILE: that each solution in it computes the goals, and what it says of all others.

    The checker shares no code with the search. What a proof of a gather calls the instructions of a target is
    then compared with those that hbc describes. Exit code 1 when a claim is not proven, or the file is no
    proof: then nothing in it is to be believed.
    """
    from hbc.cli.files.read_source import read_source, source_name
    from hbc.cli.proofs.check import check_proof, read_lines
    from hbc.cli.proofs.statement import Refused

    if settings and sketch is None:
        raise UsageError(Diagnostic("`--set` belongs to a sketch: add --sketch FILE"))
    text = read_source(file)
    try:
        verdict = check_proof(text.split("\n")[: text.count("\n")])
    except Refused as refused:
        message = f"`{source_name(file)}` proves nothing: {refused}"
        raise HbcError(Diagnostic(message)) from None
    lines = read_lines(text.splitlines())
    if sketch is not None:
        from hbc.cli.sketches.proof import is_about

        if verdict.kind != "sketch" or not is_about(lines, sketch, settings):
            message = f"`{source_name(file)}` is a proof, but not about `{sketch}`"
            raise HbcError(Diagnostic(message))
    if verdict.kind == "gather":
        from hbc.cli.sketches.proof_gather import is_about_its_gather

        if not is_about_its_gather(lines):
            message = f"`{source_name(file)}` is a proof, but not about the gather that it names"
            hint = "its instructions, sources or goals are others"
            raise HbcError(Diagnostic(message, hint=hint))
    if as_json:
        print_json(as_object(verdict))
    else:
        print_facts(verdict.name, facts(verdict))


def facts(verdict: Verdict) -> list[tuple[str, str]]:
    """Every claim with what it means."""
    return [(fact.partition(": ")[0], fact.partition(": ")[2]) for fact in verdict.facts]


def as_object(verdict: Verdict) -> dict[str, Json]:
    claims: list[Json] = [*verdict.claims]
    return {
        "name": verdict.name,
        "kind": verdict.kind,
        "claims": claims,
        "proven": dict(facts(verdict)),
    }
