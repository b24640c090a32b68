"""Pins in which words hbc speaks to a program in Python, and where notes and warnings go."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

import hbc
from hbc.cli.api.said import as_python_hears, in_python
from hbc.cli.show.report import notice, show_diagnostics
from hbc.ir.ground.diag import Diagnostic, Severity, ToolError

TEXT = "size N\ninput A: f32[N]\noutput O: f32[N]\nO[i] = A[i] * 3\n"


@pytest.mark.parametrize(
    ("command", "call"),
    [
        ("write --set N=..., give an input", "write N=..., give an input"),
        ("`--set N=-1`: a size is at least 0", "`N=-1`: a size is at least 0"),
        ("choose smaller sizes with --set", "choose smaller sizes"),
        ("say which, such as `--kernel k`: the file", 'say which, such as `kernel="k"`: the file'),
        ("it is for `--target cuda`", 'it is for `target="cuda"`'),
        ("use --target with one of: c, avx2", "use target= with one of: c, avx2"),
        ("`--on-cpu` lets the processor run", "`on_cpu=True` lets the processor run"),
    ],
)
def test_options_are_arguments(command: str, call: str) -> None:
    (said,) = in_python([Diagnostic(command, hint=command)])
    assert (said.message, said.hint) == (call, call)


def test_a_bench_without_sizes_says_what_to_give() -> None:
    kernel = hbc.compile(TEXT, target="c")
    with pytest.raises(
        hbc.HbcError, match=r"nothing says how large `N` is(.|\n)*hint: write N=\.\.\.,"
    ):
        kernel.bench()
    assert kernel.bench(N=100, seconds=0.01).sizes == {"N": 100}
    with pytest.raises(hbc.ArgumentError, match="size `N` is 'many', which is no integer"):
        kernel.bench(N="many")
    with pytest.raises(hbc.ArgumentError, match="no input and no size `M`"):
        kernel.bench(M=100)


def test_the_kind_of_error_and_its_cause_stay() -> None:
    with pytest.raises(ToolError, match=r"x=1") as caught, as_python_hears():
        raise ToolError(Diagnostic("--set x=1")) from OSError("why")
    assert isinstance(caught.value.__cause__, OSError)


def test_notes_are_logged(
    caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("HBC_CACHE", str(tmp_path))
    for _ in range(2):  # the second was kept
        caplog.clear()
        with caplog.at_level(logging.INFO, logger="hbc"):
            hbc.compile(TEXT, target="c")
        (one,) = caplog.records
        assert (one.name, one.levelno) == ("hbc", logging.INFO)
        assert one.getMessage().startswith("schedule auto for `c`: ")
    assert capsys.readouterr() == ("", "")


def test_warnings_have_their_level(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="hbc"), as_python_hears():
        show_diagnostics([Diagnostic("slow", severity=Severity.WARNING)])
        show_diagnostics([Diagnostic("so", severity=Severity.NOTE)])
        notice("note: well")
    found = [(r.levelno, r.getMessage()) for r in caplog.records]
    assert found == [
        (logging.WARNING, "warning: slow"),
        (logging.INFO, "note: so"),
        (logging.INFO, "well"),
    ]
