"""Pins that no reader ever sees half a file, and that a failure leaves the old one."""

import errno
from pathlib import Path

import pytest

from hbc.cli.files.replace_file import replace_file, write_text
from hbc.ir.ground.diag import HbcError


def test_the_new_content_replaces_the_old(tmp_path: Path) -> None:
    path = tmp_path / "x.c"
    path.write_text("old")
    with replace_file(path) as beside:
        beside.write_text("new")
        assert (beside.suffix, beside.parent, path.read_text()) == (".c", tmp_path, "old")
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_leaves_the_old_file_and_nothing_beside(tmp_path: Path) -> None:
    path = tmp_path / "x.c"
    path.write_text("old")
    with pytest.raises(KeyboardInterrupt), replace_file(path) as beside:
        beside.write_text("half")
        raise KeyboardInterrupt
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_text("old")
    link.symlink_to(target)
    write_text(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"


@pytest.mark.parametrize(
    ("name", "said"),
    [("none/x.c", "there is no folder"), (".", "not a regular file")],
)
def test_what_cannot_be_written(tmp_path: Path, name: str, said: str) -> None:
    with pytest.raises(HbcError, match=said):
        write_text(tmp_path / name, "new")


def test_a_device_is_never_replaced() -> None:
    with pytest.raises(HbcError, match="not a regular file"):
        write_text(Path("/dev/null"), "new")


def test_a_folder_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a read-only file system, where even removing what is not there is refused."""

    def refuse(path: Path, *_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system", str(path))

    monkeypatch.setattr(Path, "unlink", refuse)
    monkeypatch.setattr(Path, "write_text", refuse)
    with pytest.raises(HbcError, match=r"cannot write .*x\.c`: Read-only file system"):
        write_text(tmp_path / "x.c", "new")
