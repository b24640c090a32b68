"""What bank conflicts the accesses of a GPU's shared memory have, for `hbc compile`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from hbc.ir.lang.kernel import Kernel

if TYPE_CHECKING:
    from hbc.codegen.build.nvcc import Resources
    from hbc.codegen.gpu.banks import BankUse


def shared_accesses(kernel: Kernel, resources: Sequence[Resources]) -> list[BankUse]:
    """All accesses of shared memory; none where the device functions were not compiled."""
    if not resources:
        return []
    from hbc.codegen.gpu.banks import bank_uses

    return bank_uses(kernel)


def show_conflicts(uses: Sequence[BankUse]) -> None:
    """One line on stderr for every array, direction and width of which accesses wait for each other."""
    widest = {u.buffer: u.bytes for u in sorted(uses, key=lambda u: u.bytes) if u.stores}
    for use in uses:
        if use.wavefronts <= use.least:
            continue
        what = "stores to" if use.stores else "loads of"
        most = widest.get(use.buffer, 0)
        narrow = use.stores and use.bytes < most
        click.echo(
            f"{what} `{use.buffer}`, {_bytes(use.bytes)} a thread"
            f"{f' where {_bytes(most)} are not stored at once' if narrow else ''}: bank conflicts,"
            f" a warp needs {use.wavefronts} accesses for {use.least}",
            err=True,
        )


def _bytes(count: int) -> str:
    return "1 byte" if count == 1 else f"{count} bytes"
