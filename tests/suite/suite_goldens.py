"""Golden files: what is said about a case, with exit code and text, beside it in a `.stderr`.

HBC_UPDATE_GOLDEN=1 writes them anew; read the difference before committing it. `NAME.fixed.hb` is the case
with what its message says done.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from hbc.ir.ground.diag import Diagnostic, HbcError

FIXED = ".fixed.hb"
FIXED_SKETCH = ".fixed.sf"


def cases(folder: Path, suffix: str = ".hb") -> list[Path]:
    """The cases of a folder, in order."""
    return sorted(
        f for f in folder.glob(f"*{suffix}") if not f.name.endswith((FIXED, FIXED_SKETCH))
    )


def fixed(case: Path) -> Path:
    """The case with what its message says done. What none can be made for is in a table of the test."""
    file = case.with_suffix(f".fixed{case.suffix}")
    assert file.is_file(), f"write {file.name}: do what the message says, and see that it helps"
    return file


def assert_fixed_or_listed(folder: Path, not_fixed: Mapping[str, str], suffix: str = ".hb") -> None:
    """Each fixed version is that of a case; each line of the table is a case without one."""
    stems = {case.name.removesuffix(suffix) for case in cases(folder, suffix)}
    repaired = {f.name.removesuffix(f".fixed{suffix}") for f in folder.glob(f"*.fixed{suffix}")}
    assert repaired <= stems, f"fixed versions of no case: {sorted(repaired - stems)}"
    assert stems - repaired == not_fixed.keys(), (
        "a case has a fixed version, or a reason why there is none"
    )


def settings(text: str) -> dict[str, str]:
    """What a first line `# --set NAME=VALUE ...` asks for."""
    first = text.partition("\n")[0]
    words = first.split("--set")[1:] if first.startswith("# --set") else []
    return {name.strip(): value.strip() for name, _, value in (w.partition("=") for w in words)}


class Golden:
    """Compares what is said with the file beside a case."""

    def said(self, case: Path, exit_code: int, text: str) -> None:
        said = f"exit code {exit_code}\n{text}"
        golden = case.with_suffix(".stderr")
        if os.environ.get("HBC_UPDATE_GOLDEN") == "1":
            golden.write_text(said, encoding="utf-8")
        assert golden.is_file(), f"run once with HBC_UPDATE_GOLDEN=1; it says now:\n{said}"
        assert said == golden.read_text(encoding="utf-8")

    def refuses(self, case: Path, run: Callable[[], object]) -> tuple[Diagnostic, ...]:
        """What `run` raises is what the file says; the diagnostics."""
        with pytest.raises(HbcError) as raised:
            run()
        diagnostics = tuple(raised.value.diagnostics)
        self.said(case, raised.value.exit_code, "\n".join(d.render() for d in diagnostics) + "\n")
        return diagnostics


@pytest.fixture
def golden() -> Golden:
    return Golden()
