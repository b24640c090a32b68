"""What hbc is at this moment: its own files, and the libraries that have a say in what is compiled.

Reading all files takes 50 ms, asking the system for their sizes and times 5. So the digest of their
content is kept under a digest of where they lie, their sizes, times and numbers. The time of the last
change (ctime) cannot be set, so that a file written in place of another is never taken for it; while
the last change is so young that another could have the same time, nothing is kept.
"""

from __future__ import annotations

import os
import time
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from hbc.ir.host.cache_folder import keep, kept

_ROOT = Path(__file__).resolve().parents[2]
_PARTS = ("cli", "codegen", "eqsat", "frontend", "ir", "synth")
_NO_SOURCES = (".pyc", ".pyo", "__pycache__")
_LIBRARIES = ("egglog", "lark", "ml_dtypes", "numpy")  # that have a say in what is compiled
_INSTALLED = (".dist-info", ".egg-info")
SETTLED_SECONDS = 2.0  # longer than any file system takes to tell two changes apart


@cache
def hbc_digest() -> str:
    """A digest of hbc's own files, as this process found them: who changes one compiles anew."""
    return digest_of(_ROOT)


def digest_of(root: Path) -> str:
    """The same of hbc's files in this folder."""
    now = time.time()
    seen: list[tuple[str, int, int, int, int]] = []
    for part in _PARTS:
        if (root / part).is_dir():
            _look(str(root / part), seen)
    seen.sort()
    newest = max((max(written, changed) for _, _, written, changed, _ in seen), default=0) / 1e9
    said = repr((str(root), seen)).encode("utf-8", "surrogateescape")
    name = f"sources-{sha256(said).hexdigest()[:40]}"
    known = kept(name)
    if known is not None:
        return known.decode("ascii", "replace")
    found = _content(root, [file for file, *_ in seen])
    if newest + SETTLED_SECONDS < now:
        keep(name, found.encode())
    return found


def library_versions() -> list[str]:
    """Of each library that has a say: the files that its installation is named by, and when its first
    module was written. (`importlib.metadata` takes 15 ms to import.)"""
    found = []
    for name in _LIBRARIES:
        spec = find_spec(name)
        if spec is None or spec.origin is None:
            found.append(f"{name}: none")
            continue
        try:
            found.append(_installed(name, Path(spec.origin)))
        except OSError:  # it is no file: part of an archive or of the program
            found.append(_by_metadata(name))
    return found


def _installed(name: str, first: Path) -> str:
    seen = first.stat()
    beside = sorted(
        entry.name
        for entry in os.scandir(first.parent.parent)
        if entry.name.startswith(f"{name}-") and entry.name.endswith(_INSTALLED)
    )
    return f"{first} {seen.st_size} {seen.st_mtime_ns} {' '.join(beside)}"


def _by_metadata(name: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{name} {version(name)}"
    except PackageNotFoundError:
        return f"{name}: of no version"


def _look(folder: str, seen: list[tuple[str, int, int, int, int]]) -> None:
    """Adds the files below the folder but for what Python makes: size, times in nanoseconds, number."""
    below = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(_NO_SOURCES):
                continue
            if entry.is_dir(follow_symlinks=False):
                below.append(entry.path)
            elif entry.is_file():
                file = entry.stat()
                numbers = file.st_size, file.st_mtime_ns, file.st_ctime_ns, file.st_ino
                seen.append((entry.path, *numbers))
    for each in below:
        _look(each, seen)


def _content(root: Path, files: list[str]) -> str:
    key = sha256()
    for file in files:
        key.update(os.path.relpath(file, root).encode("utf-8", "surrogateescape") + b"\0")
        key.update(sha256(Path(file).read_bytes()).digest())
    return key.hexdigest()
