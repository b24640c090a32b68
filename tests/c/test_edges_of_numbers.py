"""Shifts by a number beyond the width: what docs/language.md says, against Python's own integers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from hbc.cli.main import exit_code_of

N = 331  # no multiple of any number of lanes
COUNTS = (0, 1, 7, 8, 15, 31, 33, 64, 100)
RANDOM = np.random.default_rng(15)
Array = np.ndarray[Any, Any]


def numpy_name(name: str) -> str:
    return name.replace("i", "int").replace("u", "uint", 1).replace("uuint", "uint")


def integers(name: str) -> Array:
    """Of the whole range, with what is special in one of four places."""
    limits = np.iinfo(numpy_name(name))
    found = RANDOM.integers(limits.min, limits.max, N, limits.dtype, endpoint=True)
    special = [limits.min, limits.min + 1, limits.max, 0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64]
    special += [-1, -2, -8, -33] if limits.min else []
    at = RANDOM.random(N) < 0.25
    found[at] = RANDOM.choice(np.array(special, limits.dtype), int(at.sum()))
    found[:2] = limits.min, -1 if limits.min else 0
    return found


def wrapped(value: int, name: str) -> int:
    bits = int(name[1:])
    value %= 1 << bits
    return value - (1 << bits) if name[0] == "i" and value >> (bits - 1) else value


@pytest.mark.parametrize("count", COUNTS)
def test_shifts_by_a_number(count: int, tmp_path: Path) -> None:
    """As by a variable."""
    lines, wanted, words = ["size N"], {}, []
    for t in ("i8", "u16", "i32", "i64"):
        values = integers(t)
        np.save(tmp_path / f"a{t}.npy", values)
        lines += [f"input a{t}: {t}[N]", f"output l{t}: {t}[N]", f"output r{t}: {t}[N]"]
        lines += [f"l{t}[i] = a{t}[i] << {count}", f"r{t}[i] = a{t}[i] >> {count}"]
        words += ["--input", f"a{t}={tmp_path}/a{t}.npy"]
        for side, by in (("l", int.__lshift__), ("r", int.__rshift__)):
            made = [wrapped(by(int(v), count % int(t[1:])), t) for v in values]
            wanted[side + t] = np.array(made, numpy_name(t))
            words += ["--output", f"{side}{t}={tmp_path}/{side}{t}.npy"]
    file = tmp_path / "shifts.hb"
    file.write_text("\n".join(lines), encoding="utf-8")
    assert exit_code_of(["run", str(file), "--target", "c", *words]) == 0
    for name, values in wanted.items():
        assert np.array_equal(np.load(tmp_path / f"{name}.npy"), values), name
