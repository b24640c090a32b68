"""What a user sees of a bug in hbc: one line, and a file that lets us reproduce it."""

from __future__ import annotations

import hashlib
import os
import platform
import shlex
import sys
import tempfile
import traceback
from pathlib import Path

import click

from hbc.ir.ground.printable import printable

BUG = 70  # EX_SOFTWARE of sysexits.h
LARGEST_SOURCE = 1 << 20  # characters of each kernel file that the reproducer quotes


def version() -> str:
    """The version of the installed hbc, or `unknown` in a clone that is not installed."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("hbc")
    except PackageNotFoundError:
        return "unknown (not installed)"


def report_bug(failure: Exception, arguments: list[str]) -> int:
    """Saves a reproducer and says where it is; `HBC_DEBUG=1` shows the traceback too."""
    saved = _save(_reproducer(failure, arguments))
    said = printable((str(failure).splitlines() or [""])[0][:300])
    kind = type(failure).__name__
    click.echo(f"internal error: {kind}: {said}" if said else f"internal error: {kind}", err=True)
    where = f"please report it with {saved}" if saved else "no folder to save a reproducer in"
    click.echo(f"this is a bug in hbc: {where}", err=True)
    if os.environ.get("HBC_DEBUG") == "1":
        traceback.print_exception(failure, file=sys.stderr)
    return BUG


def _reproducer(failure: Exception, arguments: list[str]) -> str:
    system = f"{platform.platform()}, Python {platform.python_version()}"
    parts = [
        f"hbc {version()}",
        system,
        f"in {Path.cwd()}",
        f"$ hbc {shlex.join(arguments)}",
        "",
        "".join(traceback.format_exception(failure)),
    ]
    for argument in arguments:
        if argument.endswith(".hb") and Path(argument).is_file():
            text = Path(argument).read_text(encoding="utf-8", errors="replace")
            parts += [f"---- {argument} ----", text[:LARGEST_SOURCE], ""]
    return "\n".join(parts)


def _save(text: str) -> Path | None:
    """The file, named by its content so that a bug met twice leaves one file; None when no folder
    can be written."""
    import platformdirs

    digest = hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
    for place in (lambda: platformdirs.user_state_path("hbc"), tempfile.gettempdir):
        try:
            folder = Path(place())
            path = folder / f"hbc-bug-{digest}.txt"
            folder.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", errors="replace")
        except OSError:
            continue
        return path
    return None
