"""Where a user's own library of movements lies, and what it says: what a kernel that was kept is asked by,
without reading any movement."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from hbc.ir.host.file_bytes import file_bytes
from hbc.ir.host.user_folders import user_folder

VARIABLE = "HBC_MOVEMENTS"
SUFFIX = ".txt"
MOST_BYTES = 1 << 22  # of a file


def own_folder() -> Path:
    """Where a user's libraries are."""
    named = os.environ.get(VARIABLE)
    return Path(named) if named else user_folder("data") / "movements"


def own_file(machine: str, width: int) -> Path:
    """That for registers of so many bits."""
    return own_folder() / machine / f"{width}{SUFFIX}"


def own_text(file: Path) -> str:
    """What a library says: "" where there is no such file, or none that can be read."""
    try:
        return file_bytes(file, MOST_BYTES).decode("utf-8", "replace").replace("\r\n", "\n")
    except OSError:
        return ""


def own_digest() -> str:
    """Differs whenever a user's libraries do; "" without any."""
    folder = own_folder()
    if not folder.is_dir():
        return ""
    said = [(str(file), own_text(file)) for file in sorted(folder.glob(f"*/*{SUFFIX}"))]
    there = [one for one in said if one[1]]
    return sha256(repr(there).encode()).hexdigest() if there else ""
