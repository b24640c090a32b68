"""Pins that a change of any file of hbc's own, or of a library, is seen, however it is made."""

from __future__ import annotations

import os
import sys
import zipfile
from importlib.metadata import version
from pathlib import Path

import pytest

from hbc.cli.own import installed
from hbc.cli.own.installed import digest_of, library_versions
from hbc.ir.host.cache_folder import VARIABLE


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "cache"))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    found = tmp_path / "hbc"
    for name in ("cli/a.py", "frontend/text/hb.lark", "codegen/templates/x.h"):
        file = found / name
        file.parent.mkdir(parents=True)
        file.write_text("one")
    return found


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """As if all files were old enough for their digest to be kept; what was read since."""
    monkeypatch.setattr(installed, "SETTLED_SECONDS", -1e9)
    read: list[str] = []
    real = installed._content

    def counted(root: Path, files: list[str]) -> str:
        read.append(real(root, files))
        return read[-1]

    monkeypatch.setattr(installed, "_content", counted)
    return read


@pytest.mark.parametrize("name", ["cli/a.py", "frontend/text/hb.lark", "codegen/templates/x.h"])
def test_each_file_counts(root: Path, settled: list[str], name: str) -> None:
    file = root / name
    digests = {digest_of(root)}
    file.write_text("longer")
    digests.add(digest_of(root))
    file.rename(file.with_name("renamed" + file.suffix))
    digests.add(digest_of(root))
    assert len(digests) == len(settled) == 3
    (file.parent / "x.pyc").write_text("no source")
    (file.parent / "__pycache__").mkdir()
    (file.parent / "__pycache__" / "y.py").write_text("no source")
    assert digest_of(root) in digests
    assert len(settled) == 3, "nothing was read again"


def test_a_file_of_the_same_length_and_time_counts(root: Path, settled: list[str]) -> None:
    file = root / "cli/a.py"
    before, seen = digest_of(root), file.stat()
    file.write_text("two")
    os.utime(file, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    assert digest_of(root) != before
    other = file.with_name("b")
    other.write_text("six")
    os.utime(other, ns=(seen.st_atime_ns, seen.st_mtime_ns))
    other.replace(file)  # as package managers do
    assert len({before, digest_of(root), *settled}) == 3


def test_while_files_are_young_nothing_is_kept(
    root: Path, settled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change within what the file system takes for one moment would not be seen."""
    monkeypatch.setattr(installed, "SETTLED_SECONDS", 60.0)
    assert digest_of(root) == digest_of(root)
    assert len(settled) == 2


def test_content_decides_wherever_it_lies(root: Path, settled: list[str]) -> None:
    before = digest_of(root)
    moved = root.rename(root.with_name("elsewhere"))
    assert digest_of(moved) == before
    assert len(settled) == 2


def test_libraries_are_named_by_their_versions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = library_versions()
    assert any(f"numpy-{version('numpy')}.dist-info" in said for said in before)
    (tmp_path / "lark").mkdir()
    (tmp_path / "lark/__init__.py").touch()
    (tmp_path / "lark-9.9.dist-info").mkdir()
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.delitem(sys.modules, "lark", raising=False)
    after = library_versions()
    assert after[1].endswith("lark-9.9.dist-info")
    assert [after[0], *after[2:]] == [before[0], *before[2:]]


def test_libraries_in_archives_have_versions_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as archive:
        archive.writestr("lark/__init__.py", "")
        archive.writestr("lark-9.9.dist-info/METADATA", "Name: lark\nVersion: 9.9\n")
        archive.writestr("egglog/__init__.py", "")
    for name in ("lark", "egglog"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path / "all.zip")])
    assert library_versions()[:2] == ["egglog: of no version", "lark 9.9"]
