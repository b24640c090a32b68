"""Which emulator a command's compiled code runs with: chosen by --emulate or by what is missing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from hbc.cli.machine import missing_features
from hbc.cli.prepare import Chosen, require_runnable
from hbc.cli.report import notice
from hbc.codegen.cross import emulator, is_foreign
from hbc.ir.diag import ToolError
from hbc.ir.target import Target


def emulator_for(chosen: Chosen, wanted: bool) -> Path | None:
    """The AMX emulator's library when the target's code needs AMX and this processor has none, else
    None; says on stderr what was decided. Code with a fallback runs without one, unless one is
    wanted. ToolError when the code can be run in no way."""
    from hbc.codegen.amx_emulator import EMULATED, build_emulator

    target, missing = chosen.target, missing_features(chosen.target)
    if is_foreign(target.machine):
        require_runnable(target)
        return None
    emulable = can_emulate(target)
    if missing and chosen.fallback and not (wanted and emulable):
        notice(f"note: this processor has no {', '.join(missing)}: the plain loops run")
        return None
    if not emulable:
        require_runnable(target)
        return None
    if missing:
        notice("note: this processor has no AMX: an emulator executes it, and times mean nothing")
        return build_emulator()
    if wanted:
        executes = "executes AMX itself" if EMULATED & set(target.needs) else "has all it needs"
        notice(f"note: `{target.name}` code runs without an emulator: this processor {executes}")
    return None


def can_emulate(target: Target) -> bool:
    """Whether what this processor lacks for the target's code can be emulated here."""
    from hbc.codegen.amx_emulator import EMULATED, is_possible

    if not is_foreign(target.machine):
        return is_possible() and EMULATED.issuperset(missing_features(target))
    try:
        emulator(target.machine)
    except ToolError:
        return False
    return True


def counts_text(counts: Mapping[str, int]) -> str:
    """`64 tdpbf16ps, 32 tileloadd`, the most frequent first."""
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{n:,} {name}" for name, n in ordered) or "no tile instruction"
