"""What bank conflicts the accesses of a GPU's shared memory have, for `hbc compile`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hbc.ir.kernel import Kernel

if TYPE_CHECKING:
    from hbc.codegen.nvcc import Resources
    from hbc.ir.banks import BankUse


def shared_accesses(kernel: Kernel, resources: Sequence[Resources]) -> list[BankUse]:
    """All accesses of shared memory; none where the device functions were not compiled."""
    if not resources:
        return []
    from hbc.ir.banks import bank_uses

    return bank_uses(kernel)


def show_conflicts(uses: Sequence[BankUse]) -> None:
    """One line on stderr for every array, direction and width of which accesses wait for each other."""
    for use in uses:
        if use.wavefronts > use.least:
            what = "stores to" if use.stores else "loads of"
            click.echo(
                f"{what} `{use.buffer}`, {use.bytes} bytes a thread: bank conflicts, a warp needs "
                f"{use.wavefronts} accesses for {use.least}",
                err=True,
            )
