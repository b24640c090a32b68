"""Which files an import may name: what comes from somebody else reads no others, and waits at no pipe."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from hbc.cli.main import exit_code_of

TEXTS = {
    "hb": 'import "{}"\nsize N\noutput O: f32[N]\nO[x] = 1\n',
    "sf": 'import "{}"\n',
}


Said = Callable[[str, Path], str]


@pytest.fixture
def said(capsys: pytest.CaptureFixture[str]) -> Said:
    """What `hbc check` says of a text with mistakes."""

    def checked(text: str, file: Path) -> str:
        file.write_text(text, encoding="utf-8")
        assert exit_code_of(["check", str(file)]) == 1
        return capsys.readouterr().err

    return checked


@pytest.mark.parametrize("name", ["secret", "secret.txt", "secret.hb.bak", "../files/secret"])
@pytest.mark.parametrize("ending", ["hb", "sf"])
def test_no_other_file_is_read(name: str, ending: str, tmp_path: Path, said: Said) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    (folder / Path(name).name).write_text("hidden:x:0:0", encoding="ascii")
    shown = said(TEXTS[ending].format(name), folder / f"k.{ending}")
    assert f"cannot import `{name}`: its name does not end in `.{ending}`" in shown
    assert "hidden" not in shown


@pytest.mark.parametrize("ending", ["hb", "sf"])
def test_nobody_waits_at_a_pipe(ending: str, tmp_path: Path, said: Said) -> None:
    os.mkfifo(tmp_path / f"pipe.{ending}")
    shown = said(TEXTS[ending].format(f"pipe.{ending}"), tmp_path / f"k.{ending}")
    assert "a pipe or a device" in shown or "there is no" in shown
