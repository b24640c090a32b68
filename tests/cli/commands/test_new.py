"""Pins that what `hbc new` writes is formatted, without mistakes, and computes what the oracle does."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from hbc.cli.commands.check import command as check
from hbc.cli.commands.fmt import command as fmt
from hbc.cli.commands.new import KINDS, STARTS, command
from hbc.cli.commands.synth import command as synth
from hbc.cli.commands.verify import command as verify
from hbc.ir.ground.diag import UsageError


@pytest.mark.parametrize("kind", KINDS)
def test_it_is_a_good_start(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"own{KINDS[kind]}"
    runs = (verify, [str(file), "--target", "c", "--trials", "2"])
    if KINDS[kind] == ".sf":
        runs = (synth, [str(file)])
    for what, arguments in (
        (command, [kind, str(file)]), (check, [str(file)]), (fmt, ["--check", str(file)]),
        runs,
    ):  # fmt: skip
        result = CliRunner().invoke(what, arguments, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        assert "warning" not in result.output
    assert {f.name for f in STARTS.iterdir()} == {kind + end for kind, end in KINDS.items()}


def test_a_file_that_is_there_stays(tmp_path: Path) -> None:
    file = tmp_path / "own.hb"
    file.write_text("mine")
    with pytest.raises(UsageError, match="there already"):
        CliRunner().invoke(command, ["gemm", str(file)], catch_exceptions=False)
    assert file.read_text() == "mine"
