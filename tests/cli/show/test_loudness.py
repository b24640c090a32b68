"""Pins what --quiet leaves out and --verbose adds, for every command alike."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import click
import pytest

from hbc.cli.main import COMMANDS, commands, exit_code_of
from hbc.cli.roof import roofs
from hbc.cli.roof.roofs import Roofs
from hbc.cli.show.loudness import Loudness, be
from hbc.codegen.build.run_tool import run_tool

TEXT = "size N\ninput A: f32[N]\noutput O: f32[N]\nO[i] = A[i] * 3\nexample { N = 64; A = random(1) }\n"


@pytest.fixture
def kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "cache"))
    # Which takes seconds to measure.
    known = Roofs(1, {"f32": 1e9}, {"DRAM": 1e9}, {})
    monkeypatch.setattr(roofs, "machine_roofs", lambda threads, shown: known)
    file = tmp_path / "triple.hb"
    file.write_text(TEXT)
    return str(file)


@pytest.mark.parametrize("name", COMMANDS)
def test_all_commands_have_both(name: str) -> None:
    for _ in range(2):  # they are added once
        command = commands.get_command(click.Context(commands), name)
        assert command is not None
        options = [o for p in command.params for o in p.opts]
        for option in ("-q", "--quiet", "-v", "--verbose"):
            assert options.count(option) == 1, options


def test_quiet_leaves_notes_out(kernel: str, capfd: pytest.CaptureFixture[str]) -> None:
    for arguments, note in (
        (["run", kernel, "--target", "c"], "note: schedule auto for `c`"),
        (["check", kernel], "1 file checked, no mistakes"),
        (["compile", kernel, "-o", str(Path(kernel).parent)], "wrote "),
    ):
        assert exit_code_of(arguments) == 0
        assert note in capfd.readouterr().err
        for given in ([*arguments, "-q"], ["--quiet", *arguments]):
            assert exit_code_of(given) == 0
            assert capfd.readouterr().err == ""
    assert exit_code_of(["check", kernel]) == 0
    assert capfd.readouterr().err != "", "the next command is as usual"


def test_quiet_says_errors_and_warnings(kernel: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert exit_code_of(["check", kernel + "x", "-q"]) == 1
    assert "error: cannot read" in capfd.readouterr().err
    Path(kernel).write_text(TEXT.replace("O[i]", "reduce k in N\nO[i]", 1))
    assert exit_code_of(["check", kernel, "-q"]) == 0
    assert "warning: " in capfd.readouterr().err


def test_verbose_says_what_is_done(kernel: str, capfd: pytest.CaptureFixture[str]) -> None:
    said = []
    for _ in range(2):
        assert exit_code_of(["run", kernel, "--target", "c", "-v"]) == 0
        lines = capfd.readouterr().err.splitlines()
        done = [line for line in lines if not line.startswith("note:")]
        assert all(re.match(r" *\d+\.\d{3} s  \S", line) for line in done), done
        said.append("\n".join(done))
    first, second = said
    assert f"reading {kernel}" in first and first.endswith("  done")
    for step in ("compiling", "reading the inputs", "running", "checking against the oracle"):
        assert f"s  {step}\n" in first and f"s  {step}\n" in second
    assert "  not in the cache: kernel-" in first and "  from the cache: kernel-" in second


@pytest.mark.parametrize(
    ("command", "step"),
    [
        ("compile", "writing c"),
        ("explain", "choosing instructions"),
        ("inspect", "mapping loops to instructions"),
    ],
)
def test_steps_of_commands_that_take_long(
    kernel: str, capfd: pytest.CaptureFixture[str], command: str, step: str
) -> None:
    """Which a terminal shows after a second, and -v at once."""
    folder = ["-o", str(Path(kernel).parent)] if command == "compile" else []
    assert exit_code_of([command, kernel, *folder, "-v"]) == 0
    said = capfd.readouterr().err
    assert "s  reading and checking\n" in said and f"s  {step}\n" in said


def test_command_lines_are_traced(capfd: pytest.CaptureFixture[str]) -> None:
    be(Loudness.VERBOSE)
    run_tool([sys.executable, "-c", "pass"])
    be(Loudness.USUAL)
    run_tool([sys.executable, "-c", "0"])
    assert capfd.readouterr().err.endswith(f"s  {sys.executable} -c pass\n")
