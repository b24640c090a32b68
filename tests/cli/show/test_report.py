"""Pins how tables, JSON, diagnostics and progress look."""

import json
import math
import os
import select
import time

import pytest

from hbc.cli.show import report
from hbc.ir.ground.diag import MOST_MISTAKES, Diagnostic
from hbc.ir.ground.source import Source, Span


def test_tables(capsys: pytest.CaptureFixture[str]) -> None:
    report.print_table("a title", ("name", "value>"), [("a", "1"), ("longer", "1000000")])
    assert capsys.readouterr().out.splitlines() == [
        "a title",
        "  name      value",
        "  a             1",
        "  longer  1000000",
    ]


def test_json_has_no_infinities(capsys: pytest.CaptureFixture[str]) -> None:
    report.print_json({"a": math.inf, "b": [math.nan, 1.5], "c": {"d": None, "e": "x"}})
    found = json.loads(capsys.readouterr().out)
    assert found == {"a": None, "b": [None, 1.5], "c": {"d": None, "e": "x"}}


def test_diagnostics_are_shown_as_rendered_and_not_endlessly(
    capsys: pytest.CaptureFixture[str],
) -> None:
    source = Source("a.hb", "size N\n")
    one = Diagnostic("odd", Span(source, 5, 6), "do not")
    report.show_diagnostics([one] * (MOST_MISTAKES + 11))
    shown = capsys.readouterr().err.splitlines()
    assert "\n".join(shown[:4]) == one.render()
    assert shown[-1] == "and 10 more"
    assert len(shown) == (MOST_MISTAKES + 1) * 4 + 1


@pytest.mark.parametrize(
    ("value", "text"),
    [(2.5, "2.5 s"), (0.012345, "12.3 ms"), (1.5e-6, "1.5 us"), (2e-8, "20 ns"), (0, "0 ns")],
)
def test_seconds(value: float, text: str) -> None:
    assert report.seconds(value) == text


def test_no_progress_without_a_terminal(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report, "QUIET_SECONDS", 0.0)
    with report.progress(2) as shown:
        shown.step("working")
        time.sleep(0.05)
    assert capfd.readouterr() == ("", "")


def _read_until(terminal: int, word: bytes) -> bytes:
    """What arrives up to and with `word`: a pseudo-terminal delivers some time after it was written to."""
    arrived = b""
    while word not in arrived:
        ready, _, _ = select.select([terminal], [], [], 120)
        assert ready, f"`{word!r}` never came, only {arrived!r}"
        arrived += os.read(terminal, 100_000)
    return arrived


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_progress_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    master, slave = pty.openpty()
    with os.fdopen(slave, "w") as terminal:
        monkeypatch.setattr("sys.stderr", terminal)
        monkeypatch.setattr(report, "QUIET_SECONDS", 0.0)
        monkeypatch.setenv("TERM", "xterm")
        with report.progress(2) as shown:
            shown.step("first")
            _read_until(master, b"first")
            shown.step("second")
            _read_until(master, b"second")
    os.close(master)
