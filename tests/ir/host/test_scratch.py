"""Pins that scratch folders go with the block, and with a later run when theirs was killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hbc.ir.host import scratch
from hbc.ir.host.held_signals import held_signals
from hbc.ir.host.scratch import clear_leftovers, scratch_folder, scratch_name


@pytest.fixture(autouse=True)
def nothing_cleared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "_cleared", set())


@pytest.fixture(scope="module")
def gone() -> int:
    """The number of a process that has ended."""
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_it_is_removed(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), scratch_folder(tmp_path) as folder:
        (folder / "x").write_text("")
        assert folder.parent == tmp_path
        assert folder.stat().st_mode & 0o777 == 0o700
        raise KeyboardInterrupt
    assert list(tmp_path.iterdir()) == []


def test_it_is_removed_without_a_handle_to_look_into_it(tmp_path: Path) -> None:
    """`shutil.rmtree` opens a folder before it removes it."""
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        with scratch_folder(tmp_path) as folder:
            assert folder.is_dir()
            resource.setrlimit(resource.RLIMIT_NOFILE, (0, limits[1]))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
    assert list(tmp_path.iterdir()) == []


def test_leftovers_by_age_and_process(tmp_path: Path, gone: int) -> None:
    old = time.time() - scratch.OLD - 60
    cases = {
        f".hbc-{gone}-00000000": True,
        f"hbc-{gone}-0123abcd.npy": True,
        f"hbc-{os.getpid()}-00000000": False,  # runs
        f".hbc-{gone}-00000001.c": False,  # young, below
        "hbc-examples": False, f"hbc-{gone}-notes": False, ".hbc": False, f"x.hbc-{gone}-00000000": False,
    }  # fmt: skip
    for name in cases:
        (tmp_path / name).mkdir()
        (tmp_path / name / "inside").write_text("")
        os.utime(tmp_path / name, (old, old))
    os.utime(tmp_path / f".hbc-{gone}-00000001.c")
    clear_leftovers(tmp_path)
    assert {p.name for p in tmp_path.iterdir()} == {n for n, left in cases.items() if not left}


def test_a_link_is_removed_and_not_followed(tmp_path: Path, gone: int) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "x").write_text("")
    link = tmp_path / f"hbc-{gone}-00000000"
    link.symlink_to(tmp_path / "precious")
    old = time.time() - scratch.OLD - 60
    os.utime(link, (old, old), follow_symlinks=False)
    clear_leftovers(tmp_path)
    assert not link.is_symlink()
    assert (tmp_path / "precious" / "x").exists()


def test_what_is_another_user_s(tmp_path: Path, gone: int, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = tmp_path / f"hbc-{gone}-00000000"
    theirs.mkdir()
    os.utime(theirs, (0, 0))
    monkeypatch.setattr("os.geteuid", lambda: theirs.stat().st_uid + 1)
    clear_leftovers(tmp_path)
    assert theirs.exists()


def test_names_are_as_they_are_looked_for() -> None:
    assert scratch._NAME.fullmatch(scratch_name(".npy"))
    assert scratch._NAME.fullmatch(scratch_name(hidden=False))


def test_a_signal_waits_for_the_end_of_the_block() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), held_signals():
        signal.raise_signal(signal.SIGINT)
        done.append("began")
    assert done == ["began"]
