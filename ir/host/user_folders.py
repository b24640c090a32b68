"""Where the system has the folders that programs keep files of a user in."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Literal

Kind = Literal["cache", "data"]
# Of the XDG base directory specification: the variable, and the folder below the user's own.
_XDG = {"cache": ("XDG_CACHE_HOME", ".cache"), "data": ("XDG_DATA_HOME", ".local/share")}


def user_folder(kind: Kind) -> Path:
    """hbc's own among those of the kind; it need not exist."""
    # What platformdirs says on Linux, without the 5 ms of each start that importing it takes.
    variable, below = _XDG[kind]
    set_apart, home = os.environ.get(variable, ""), os.environ.get("HOME", "")
    if sys.platform == "linux" and (around := set_apart or home).startswith("/"):
        return Path(around, *([] if set_apart else [below]), "hbc")
    import platformdirs

    found = platformdirs.user_cache_path if kind == "cache" else platformdirs.user_data_path
    return found("hbc", appauthor=False)
