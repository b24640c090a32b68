"""`hbc cache`: shows what hbc keeps to be quick the next time, limits it and clears it."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import click

from hbc.cli.show.options import json_option
from hbc.ir.ground.counted import counted
from hbc.ir.ground.diag import Diagnostic, UsageError

SCALES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
# What names begin with, and what lies there.
KINDS = {"kernel-": "kernels", "instructions-": "descriptions", "grammar-": "parsers"}
LIBRARIES = (".so", ".library", ".cubin", ".fatbin")


@click.command("cache")
@click.option(
    "--limit", metavar="SIZE", help="Keep at most this much from now on, such as 500M or 2G."
)
@click.option("--clear", is_flag=True, help="Remove all that is kept.")
@json_option
def command(limit: str | None, clear: bool, as_json: bool) -> None:
    """Show, limit or clear what hbc keeps: compiled kernels, libraries, parsers, measured roofs.

    Nothing there is needed, and nothing of it is out of date: what decides a result is part of its
    name. When the limit is reached, what was used longest ago goes. HBC_CACHE names the folder.
    """
    from hbc.cli.show.report import print_facts, print_json
    from hbc.ir.host.cache_folder import cache_folder, keep_limit, named_folder
    from hbc.ir.host.cache_limit import IN_USE_SECONDS, USUAL_BYTES, held, limit_of, shrink

    wanted = None if limit is None else _bytes(limit)
    folder = cache_folder()
    if folder is None and not as_json:
        # The reason is said at the end of each command.
        print_facts(f"{named_folder()} is not used", [])
        return
    removed = 0
    if folder is not None and wanted is not None:
        keep_limit(wanted)
        removed += shrink(folder, wanted)
    if folder is not None and clear:
        removed += shrink(folder, 0, everything=True)
    files = [] if folder is None else held(folder)
    kinds = Counter(_kind(path) for _, _, path in files)
    total = sum(size for _, size, _ in files)
    most = USUAL_BYTES if folder is None else limit_of(folder)
    if as_json:
        print_json(
            {
                "folder": str(named_folder()),
                "bytes": total,
                "limit": most,
                "files": dict(sorted(kinds.items())),
                "removed": removed,
            }
        )
        return
    facts = [("holds", f"{shown(total)} of {shown(most)}")]
    facts += [(kind, str(count)) for kind, count in sorted(kinds.items())]
    if clear or wanted is not None:
        facts.append(("removed", f"{counted(removed, 'file')}"))
    if total > most:
        minutes = f"{IN_USE_SECONDS / 60:g} minutes"
        facts.append(("over", f"what was used in the last {minutes} goes later, or with --clear"))
    print_facts(str(folder), facts)


def _kind(path: Path) -> str:
    if path.name.endswith(LIBRARIES):
        return "libraries"
    return next((kind for begin, kind in KINDS.items() if path.name.startswith(begin)), "others")


def _bytes(text: str) -> int:
    match = re.fullmatch(
        r"(\d{1,15}(?:\.\d{1,9})?)\s*([KMGT]?)(?:i?B)?", text.strip(), re.IGNORECASE
    )
    if match is None:
        hint = "it is a number and a unit: 500M, 2G"
        raise UsageError(Diagnostic(f"`--limit {text}` is no size", hint=hint))
    return int(float(match[1]) * SCALES[match[2].upper()])


def shown(count: int) -> str:
    """Bytes in a unit that suits them."""
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= scale:
            return f"{count / scale:.3g} {unit}"
    return f"{counted(count, 'byte')}"
