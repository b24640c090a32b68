"""Kept answers of compilers are those to the same question, and to no other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
import suite_compiles
from suite_compiles import Compiles, forget

HEADER = "// the only header\n"


class Folder:
    """A text with a header in a folder, and a compiler that counts how often it runs."""

    def __init__(self, folder: Path) -> None:
        self.headers = folder / "headers"
        self.headers.mkdir()
        (self.headers / "a.h").write_text(HEADER)
        self.runs = 0
        self.says = ""
        self.fails = False
        self.compiles = Compiles(self.compiler, folder / "kept")
        self.scratch = folder
        self.n = 0

    def compiler(self, arguments: list[str], made: Path) -> subprocess.CompletedProcess[str]:
        self.runs += 1
        made.write_text(" ".join(Path(a).read_text() for a in arguments if a.endswith(".c")))
        return subprocess.CompletedProcess(arguments, int(self.fails), "", self.says)

    def build(self, text: str = "int a;", *options: str, command: str = sys.executable) -> str:
        """Each time in a new folder, as hbc does."""
        self.n += 1
        folder = self.scratch / str(self.n)
        folder.mkdir()
        source, made = folder / "k.c", folder / "made.so"
        source.write_text(text)
        words = [command, *options, "-I", str(self.headers), str(source), "-o", str(made)]
        self.compiles(words, made)
        return made.read_text()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def test_the_same_is_compiled_once(folder: Folder) -> None:
    assert folder.build() == folder.build() == "int a;"
    assert folder.runs == 1 and folder.compiles.hits == 1


def test_another_text(folder: Folder) -> None:
    assert (folder.build("int a;"), folder.build("int b;")) == ("int a;", "int b;")
    assert folder.runs == 2


def test_other_options(folder: Folder) -> None:
    folder.build("int a;", "-O1")
    folder.build("int a;", "-O2")
    folder.build("int a;", "-O", "1")
    assert folder.runs == 3


def test_another_header(folder: Folder) -> None:
    folder.build()
    (folder.headers / "a.h").write_text(HEADER.upper())
    folder.build()
    (folder.headers / "a.h").rename(folder.headers / "b.h")
    folder.build()
    assert folder.runs == 3


def test_another_compiler(folder: Folder, tmp_path: Path) -> None:
    copy = tmp_path / "cc"
    copy.write_bytes(Path(sys.executable).resolve().read_bytes())
    copy.chmod(0o755)
    folder.build()
    folder.build(command=str(copy))
    assert folder.runs == 2


def test_other_templates(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.build()
    monkeypatch.setattr(suite_compiles, "templates", lambda: b"others")
    folder.build()
    assert folder.runs == 2


@pytest.mark.parametrize("option", ["-march=native", "-L/no/such/folder", "-MF/no/such/file"])
def test_what_is_not_known_is_run(folder: Folder, option: str) -> None:
    folder.build("int a;", option)
    folder.build("int a;", option)
    assert folder.runs == 2


def test_a_script_is_run(folder: Folder, tmp_path: Path) -> None:
    script = tmp_path / "cc"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    folder.build(command=str(script))
    folder.build(command=str(script))
    assert folder.runs == 2


@pytest.mark.parametrize("name", ["PATH", "TMPDIR", "CPATH", "LIBRARY_PATH"])
def test_another_environment(folder: Folder, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    folder.build()
    monkeypatch.setenv(name, "/elsewhere")
    folder.build()
    assert folder.runs == 2


def test_failures_and_warnings_are_not_kept(folder: Folder) -> None:
    folder.says = "warning: a"
    folder.build()
    folder.says, folder.fails = "", True
    folder.build()
    folder.fails = False
    folder.build()
    folder.build()
    assert folder.runs == 3


def test_what_nobody_asks_for_goes(folder: Folder) -> None:
    folder.build()
    forget(folder.compiles.folder)
    folder.build()
    assert folder.runs == 1
    forget(folder.compiles.folder, days=-1)
    folder.build()
    assert folder.runs == 2


def test_what_fails_sooner_is_run_as_it_is(tmp_path: Path) -> None:
    def real(words: Sequence[str], made: Path) -> subprocess.CompletedProcess[str]:
        made.write_text("made")
        return subprocess.CompletedProcess(list(words), int("sooner" in words), "", "")

    compiles = Compiles(real, tmp_path / "kept", faster=lambda words: [*words, "sooner"])
    answer = compiles([sys.executable, "-O1"], tmp_path / "made.o")
    assert (answer.returncode, answer.args) == (0, [sys.executable, "-O1"])
