"""Pins `hbc cache`: what it shows, and that it limits and clears."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from hbc.cli.commands.cache import command
from hbc.ir.ground.diag import UsageError
from hbc.ir.host.cache_folder import VARIABLE, keep, kept
from hbc.ir.host.cache_limit import IN_USE_SECONDS, USUAL_BYTES, limit_of


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))
    for n, name in enumerate(("kernel-a.json", "avx2-b.library", "roofs-c.json")):
        keep(name, bytes(1000))
        then = time.time() - IN_USE_SECONDS - 100 + n
        os.utime(tmp_path / "cache" / name, (then, then))
    return tmp_path / "cache"


def told(*arguments: str) -> dict[str, object]:
    result = CliRunner().invoke(command, [*arguments, "--json"], catch_exceptions=False)
    found: dict[str, object] = json.loads(result.stdout)
    return found


def test_it_shows_what_is_kept(folder: Path) -> None:
    assert told() == {
        "folder": str(folder), "bytes": 3096, "limit": USUAL_BYTES,
        "files": {"kernels": 1, "libraries": 1, "others": 1}, "removed": 0,
    }  # fmt: skip
    text = CliRunner().invoke(command, []).stdout
    assert "3.02 KiB of 1 GiB" in text


def test_a_limit_stays(folder: Path) -> None:
    assert told("--limit", "2.5K")["removed"] == 2
    assert limit_of(folder) == 2560
    assert [kept(n) is not None for n in ("kernel-a.json", "roofs-c.json")] == [False, True]


def test_what_was_used_just_now_stays_and_is_named(folder: Path) -> None:
    now = time.time()
    for file in folder.iterdir():
        os.utime(file, (now, now))
    text = CliRunner().invoke(command, ["--limit", "1K"], catch_exceptions=False).stdout
    assert "0 files" in text
    assert "what was used in the last 10 minutes goes later, or with --clear" in text


def test_clearing_leaves_the_limit(folder: Path) -> None:
    told("--limit", "1M")
    assert told("--clear") == {
        "folder": str(folder), "bytes": 0, "limit": 1 << 20, "files": {}, "removed": 3,
    }  # fmt: skip


@pytest.mark.parametrize("text", ["much", "-1", "1e3", "5X", ""])
def test_what_is_no_size(folder: Path, text: str) -> None:
    with pytest.raises(UsageError, match="is no size"):
        CliRunner().invoke(command, ["--limit", text], catch_exceptions=False)
