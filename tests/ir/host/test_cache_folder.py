"""Pins whose cache is believed, and that what is kept there is data."""

import json
import os
from pathlib import Path

import pytest
from platformdirs import user_cache_path, user_data_path

from hbc.cli.main import exit_code_of
from hbc.ir.host.cache_folder import VARIABLE, cache_folder, keep, kept, kept_file, named_folder
from hbc.ir.host.user_folders import user_folder

KERNEL = "size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = A[i]\n"
ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    # What is noted here is not for the next command of this process.
    monkeypatch.setattr("hbc.ir.host.cache_folder._refused", {})
    return tmp_path / "cache"


def test_it_is_made_for_its_user_alone(folder: Path) -> None:
    assert cache_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("home", ["/home/a", "home/a", ""])
@pytest.mark.parametrize("set_apart", [None, "/var/kept", "kept"])
def test_it_lies_where_the_system_has_such_folders(
    home: str, set_apart: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    monkeypatch.setenv("HOME", home)
    for variable in ("XDG_CACHE_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(variable, raising=False)
        if set_apart is not None:
            monkeypatch.setenv(variable, set_apart)
    assert named_folder() == user_cache_path("hbc", appauthor=False)
    assert user_folder("data") == user_data_path("hbc", appauthor=False)


def test_one_that_others_read_becomes_private(folder: Path) -> None:
    folder.mkdir(mode=0o755)
    folder.chmod(0o755)
    assert cache_folder() == folder
    assert folder.stat().st_mode & 0o777 == 0o700


def test_where_none_can_be_made_a_note_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.write_text("in the way")
    monkeypatch.setenv(VARIABLE, str(folder / "below"))
    assert cache_folder() is None
    keep("a", b"ours")
    assert kept("a") is None
    assert exit_code_of(["cache", "--limit", "1M"]) == 0
    out, err = capsys.readouterr()
    assert out == f"{folder}/below is not used\n"
    note = f"note: nothing is kept in `{folder}/below`: it cannot be made (Not a directory); make it, or"
    assert err == f"{note} name another one with {VARIABLE}\n"
    assert exit_code_of(["cache", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["bytes"] == 0


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_where_others_write_nothing_is_kept_or_read(folder: Path, mode: int) -> None:
    keep("a", b"ours")
    folder.chmod(mode)
    assert cache_folder() is None
    assert kept("a") is None
    keep("b", b"ours")
    assert [p.name for p in folder.iterdir()] == ["a"]


def test_another_user_s(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keep("a", b"ours")
    monkeypatch.setattr("os.geteuid", lambda: folder.stat().st_uid + 1)
    assert kept("a") is None


def test_a_note_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from hbc.frontend.text.grammar import load_parser

    folder.mkdir()
    folder.chmod(0o777)
    load_parser.cache_clear()
    (tmp_path / "k.hb").write_text(KERNEL)
    assert exit_code_of(["check", str(tmp_path / "k.hb")]) == 0
    said = capfd.readouterr().err
    assert f"note: nothing is kept in `{folder}`: others may write in it" in said
    assert list(folder.iterdir()) == []
    load_parser.cache_clear()


@pytest.mark.parametrize("damage", [b"", b"x", b"\0" * 40])
def test_damage_is_noticed(folder: Path, damage: bytes) -> None:
    keep("a", b"ours")
    assert kept("a") == b"ours"
    (folder / "a").write_bytes(damage)
    assert kept("a") is None


def test_a_failed_write_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(path: Path, target: Path) -> Path:
        raise OSError(28, os.strerror(28))

    cache_folder()
    monkeypatch.setattr(Path, "replace", fail)
    keep("a", b"ours")
    assert list(folder.iterdir()) == []


def test_a_damaged_library_is_made_again(folder: Path) -> None:
    made = []

    def make(out: Path) -> None:
        made.append(out)
        out.write_bytes(b"library")

    out = folder / "k.so"
    folder.mkdir()
    for _ in range(2):
        assert kept_file(out, make).read_bytes() == b"library"
    assert len(made) == 1
    out.write_bytes(b"librarx")
    assert kept_file(out, make).read_bytes() == b"library"
    assert len(made) == 2


def test_no_file_of_hbc_reads_what_can_execute() -> None:
    """Pickles, marshalled code and shelves run what they hold."""
    for package in ("cli", "frontend", "ir", "eqsat", "synth", "codegen"):
        for file in (ROOT / package).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            for module in ("pickle", "marshal", "shelve", "dill"):
                assert f"import {module}" not in text, file
            assert "Lark.load(" not in text, file
