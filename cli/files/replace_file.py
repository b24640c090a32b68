"""Writing files so that a reader never sees half of one: write beside, then rename."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from hbc.ir.ground.diag import error
from hbc.ir.host.scratch import clear_leftovers, scratch_name


@contextmanager
def replace_file(path: Path) -> Iterator[Path]:
    """A fresh name beside `path` with the same suffix. When the block ends well, what was written
    there takes the place of `path`; otherwise it is removed and `path` is as it was."""
    target = check_replaceable(path)
    clear_leftovers(target.parent)
    beside = target.with_name(scratch_name(target.suffix))
    try:
        yield beside
        beside.replace(target)
    except OSError as failure:
        if failure.filename not in (None, str(beside), beside):
            raise
        raise error(f"cannot write `{path}`: {failure.strerror or failure}") from failure
    finally:
        # A folder that cannot be written has nothing to remove.
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def check_replaceable(path: Path) -> Path:
    """The file that writing to `path` replaces (where a link points). HbcError when it is a folder
    or a device, or when its folder is missing."""
    target = path.resolve() if path.is_symlink() else path
    if target.exists() and not target.is_file():
        raise error(f"cannot write `{path}`: it exists and is not a regular file")
    if not target.parent.is_dir():
        raise error(
            f"cannot write `{path}`: there is no folder `{target.parent}`",
            hint=f"mkdir -p {target.parent}",
        )
    return target


def write_text(path: Path, text: str) -> None:
    """The whole text or nothing, UTF-8, with `\\n` line ends on every system."""
    with replace_file(path) as beside:
        beside.write_text(text, encoding="utf-8", newline="\n")


def make_folder(path: Path) -> Path:
    """The folder, made with its parents when absent."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as failure:
        raise error(f"cannot make the folder `{path}`: {failure.strerror}") from failure
    return path
