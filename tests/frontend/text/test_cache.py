"""The parser's tables are kept in a cache folder that may be missing, unwritable or damaged."""

import os
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from hbc.frontend.text import grammar
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

PARSE = "from hbc.frontend.text.parse import parse; from hbc.ir.ground.source import Source; "
PARSE += "print(len(parse(Source('a.hb', 'size N, M')).statements))"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder, and no parser in memory before and after."""
    monkeypatch.setenv("HBC_CACHE", str(tmp_path / "cache"))
    grammar.load_parser.cache_clear()
    return tmp_path / "cache"


def works() -> bool:
    grammar.load_parser.cache_clear()
    return len(parse(Source("a.hb", "size N\nsize M")).statements) == 2


def test_tables_are_kept_and_read(folder: Path) -> None:
    assert works()
    (kept,) = folder.iterdir()
    before = kept.stat().st_ino
    assert works()
    assert kept.stat().st_ino == before  # not made again; its date says that it was used


@pytest.mark.parametrize("damage", [b"", b"garbage", b"\0" * 100_000])
def test_damaged_tables_are_made_again(folder: Path, damage: bytes) -> None:
    assert works()
    (kept,) = folder.iterdir()
    kept.write_bytes(damage)
    assert works()
    made = kept.read_bytes()
    assert sha256(made[32:]).digest() == made[:32]


def test_one_changed_byte_is_noticed(folder: Path) -> None:
    assert works()
    (kept,) = folder.iterdir()
    tables = bytearray(kept.read_bytes())
    tables[len(tables) // 2] ^= 1
    kept.write_bytes(tables)
    assert works()


def test_a_folder_that_cannot_be_made(folder: Path) -> None:
    folder.write_text("a file stands in its place")
    assert works()


def test_several_processes_at_once(folder: Path) -> None:
    started = [
        subprocess.Popen([sys.executable, "-c", PARSE], stdout=subprocess.PIPE, env=os.environ)
        for _ in range(4)
    ]
    said = [process.communicate()[0].strip() for process in started]
    assert said == [b"1"] * 4
    assert len(list(folder.iterdir())) == 1
