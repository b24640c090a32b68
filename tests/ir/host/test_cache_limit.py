"""Pins what goes when the cache is full: what was used longest ago, with its digest."""

import os
import time
from pathlib import Path

import pytest

from hbc.ir.host import cache_folder
from hbc.ir.host.cache_folder import VARIABLE, keep, kept, kept_file
from hbc.ir.host.cache_limit import IN_USE_SECONDS, LIMIT, held, limit_of, shrink

OLD = IN_USE_SECONDS + 100


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(VARIABLE, str(tmp_path))
    return tmp_path


def aged(file: Path, seconds: float) -> None:
    then = time.time() - seconds
    os.utime(file, (then, then))


def test_the_oldest_go_first(folder: Path) -> None:
    for n in range(5):
        keep(f"{n}", bytes(1000))
        aged(folder / f"{n}", OLD + 100 * (5 - n))
    assert kept("0") is not None  # now it is the newest
    assert shrink(folder, 3500) == 3
    assert sorted(f.name for f in folder.iterdir()) == ["0", "4"]


def test_keeping_keeps_to_the_limit(folder: Path) -> None:
    (folder / LIMIT).write_text("3000")
    for n in range(10):
        keep(f"{n}", bytes(1000))
        aged(folder / f"{n}", OLD + 100 * (10 - n))
    total = sum(f.stat().st_size for f in folder.iterdir())
    assert total < 3000 + 1100
    assert kept("9") is not None
    assert limit_of(folder) == 3000


def test_the_folder_is_looked_through_when_much_has_come(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / LIMIT).write_text("64000")
    looked = []
    monkeypatch.setattr(cache_folder, "shrink", lambda *_: looked.append(len(list(held(folder)))))
    for n in range(12):
        keep(f"{n}", bytes(100))
    kept_file(folder / "large", lambda out: out.write_bytes(bytes(1000)))
    assert looked == [1, 11, 13]  # at first, after ten, after what is large


def test_what_was_used_just_now_stays(folder: Path) -> None:
    keep("a", bytes(1000))
    assert shrink(folder, 0) == 0
    assert shrink(folder, 0, everything=True) == 1
    assert kept("a") is None


def test_a_library_goes_with_its_digest(folder: Path) -> None:
    kept_file(folder / "k.so", lambda out: out.write_bytes(bytes(1000)))
    assert [size > 1000 for _, size, _ in held(folder)] == [True]
    aged(folder / "k.so", OLD)
    assert shrink(folder, 0) == 1
    assert list(folder.iterdir()) == []


def test_links_are_left_alone(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "mine"
    elsewhere.write_bytes(bytes(1000))
    (folder / "link").symlink_to(elsewhere)
    shrink(folder, 0, everything=True)
    assert elsewhere.exists()
    assert held(folder) == []
