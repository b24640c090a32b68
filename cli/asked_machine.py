"""Whose costs automatic schedules go by: of the machine that `--machine` or HBC_MACHINE names.

A machine file is JSON: what instructions and memory cost on a processor, which features it has. `hbc machine`
measures this processor and writes one, or keeps what it measured for the name `here`. Unless one is asked
for, costs are those that instructions are described with, and constants: so that a file and hbc make the
same code on every machine, whatever was measured there.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import TypeGuard

from hbc.cli.machine import processor_key
from hbc.cli.show.machine_option import HERE, NONE, asked_machine
from hbc.codegen.build.processor import can_run
from hbc.frontend.costs.machine_costs import Level, MachineCosts
from hbc.ir.ground.diag import Diagnostic, UsageError
from hbc.ir.host.cache_folder import keep, kept
from hbc.ir.host.file_bytes import file_bytes
from hbc.ir.lang.instruction import Cost
from hbc.ir.lang.target import Target

VERSION = 1  # of the file, and of what measures: raise it when either changes
MOST_BYTES = 1 << 20  # of a file
MOST = 1e6  # cycles, or bytes in one


def asked_costs() -> MachineCosts | None:
    """The costs to go by; None for those that are described. UsageError where there are none."""
    name = asked_machine()
    if name in (None, NONE):
        return None
    if name != HERE:
        return read_costs(Path(name))
    costs = kept_costs()
    if costs is None:
        what = "what this processor's instructions cost was not measured yet"
        raise UsageError(Diagnostic(what, hint="`hbc machine` measures it"))
    return costs


def tuning_costs() -> MachineCosts | None:
    """The same for what measures on this processor anyway: what is known of it, unless something else is
    asked for."""
    return kept_costs() if asked_machine() is None else asked_costs()


def runs_there(costs: MachineCosts | None) -> Callable[[Target], bool]:
    """Which targets that machine runs; this one without costs, or where they say nothing of features."""
    if costs is None or not costs.features:
        return can_run
    return lambda target: set(target.needs) <= set(costs.features)


def machine_text() -> str:
    """What decides a choice by those costs; "" where none are asked for. UsageError as `asked_costs`."""
    costs = asked_costs()
    return "" if costs is None else costs_text(costs)


def read_costs(file: Path) -> MachineCosts:
    """Those of a file. UsageError for one that is none."""
    try:
        text = file_bytes(file, MOST_BYTES).decode("utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        why = failure.strerror if isinstance(failure, OSError) else "it is no text"
        raise UsageError(Diagnostic(f"cannot read the machine file `{file}`: {why}")) from failure
    try:
        return costs_in(text)
    except ValueError as wrong:
        hint = "`hbc machine -o FILE` writes one"
        raise UsageError(Diagnostic(f"`{file}` is no machine file: {wrong}", hint=hint)) from wrong


def kept_costs() -> MachineCosts | None:
    """What was measured on this processor before."""
    stored = kept(_kept_name())
    try:
        return None if stored is None else costs_in(stored.decode("utf-8", "replace"))
    except ValueError:
        return None


def keep_costs(costs: MachineCosts) -> None:
    """For `here`, where there is a folder for it."""
    keep(_kept_name(), costs_text(costs).encode())


def _kept_name() -> str:
    return f"machine-{processor_key(VERSION)}.json"


def costs_text(costs: MachineCosts) -> str:
    """A machine file."""
    instructions = {
        name: {"latency": cost.latency, "per_cycle": cost.per_cycle}
        for name, cost in costs.instructions
    }
    memory = {
        level.name: {"bytes": level.bytes, "loads": level.loads, "stores": level.stores}
        for level in costs.levels
    }
    parts = [
        f'"hbc_machine": {VERSION}', f'"processor": {json.dumps(costs.processor)}',
        f'"features": {json.dumps(costs.features)}', _a_line_each("instructions", instructions),
        _a_line_each("memory", memory),
    ]  # fmt: skip
    return "{\n" + ",\n".join(f"  {part}" for part in parts) + "\n}\n"


def _a_line_each(key: str, rows: Mapping[str, object]) -> str:
    lines = ",\n".join(f"    {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
    return f'"{key}": {{\n{lines}\n  }}'


@lru_cache(4)
def costs_in(text: str) -> MachineCosts:
    """What a machine file says. ValueError, with what is wrong, for any other text."""
    try:
        held = json.loads(text)
    except RecursionError as failure:
        raise ValueError("it is too deep") from failure
    if not isinstance(held, dict) or held.get("hbc_machine") != VERSION:
        raise ValueError(f'`"hbc_machine": {VERSION}` is missing')
    features = held.get("features")
    if not isinstance(features, list) or not all(isinstance(f, str) for f in features):
        raise ValueError("`features` is no list of names")
    return MachineCosts(
        str(held.get("processor", "")),
        tuple(features),
        tuple(
            (name, Cost(*_numbers(f"instructions.{name}", row, ("latency", "per_cycle"))))
            for name, row in _rows(held, "instructions").items()
        ),
        tuple(
            Level(name, *_level(f"memory.{name}", row))
            for name, row in _rows(held, "memory").items()
        ),
    )


def _rows(held: Mapping[str, object], key: str) -> Mapping[str, object]:
    rows = held.get(key, {})
    if not isinstance(rows, dict):
        raise ValueError(f"`{key}` has no names")
    return rows


def _level(where: str, row: object) -> tuple[int, float, float]:
    """What is not said of writing is as fast as reading."""
    whole = {"stores": row.get("loads"), "bytes": 0, **row} if isinstance(row, dict) else {}
    loads, stores = _numbers(where, whole, ("loads", "stores"))
    size = whole["bytes"]
    if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size < 1 << 50:
        raise ValueError(f"`{where}.bytes` is no number of bytes")
    return size, loads, stores


def _numbers(where: str, row: object, keys: tuple[str, ...]) -> list[float]:
    found = []
    for key in keys:
        value = row.get(key) if isinstance(row, dict) else None
        if not _is_cost(value):
            raise ValueError(f"`{where}.{key}` is no number above 0")
        found.append(float(value))
    return found


def _is_cost(value: object) -> TypeGuard[float]:
    return (
        isinstance(value, int | float)
        and not isinstance(value, bool)
        and math.isfinite(value)
        and 1 / MOST <= value <= MOST
    )
