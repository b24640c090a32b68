"""What is said of bank conflicts."""

from __future__ import annotations

import pytest

from hbc.cli.show.bank_report import show_conflicts
from hbc.codegen.gpu.banks import BankUse


def test_conflicts(capsys: pytest.CaptureFixture[str]) -> None:
    """Stores at edges and of rows that are not aligned are told from the usual ones."""
    show_conflicts(
        [
            BankUse("A", True, 1, 4, 1),
            BankUse("A", True, 16, 4, 4),
            BankUse("A", False, 4, 2, 1),
            BankUse("B", True, 2, 8, 1),
        ]
    )
    assert capsys.readouterr().err.splitlines() == [
        "stores to `A`, 1 byte a thread where 16 bytes are not stored at once: bank conflicts,"
        " a warp needs 4 accesses for 1",
        "loads of `A`, 4 bytes a thread: bank conflicts, a warp needs 2 accesses for 1",
        "stores to `B`, 2 bytes a thread: bank conflicts, a warp needs 8 accesses for 1",
    ]
