"""What the CUDA printer makes. Apart from the printer, which imports NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span

if TYPE_CHECKING:
    from hbc.ir.lang.instruction import Instruction
    from hbc.ir.lang.types import Memory


@record
class SharedUse:
    """Bytes of shared memory that a block of one launch has, those of its arrays by name, and where
    the largest of these was asked for."""

    total: int
    arrays: tuple[tuple[str, int], ...]
    span: Span | None = field(default=None, compare=False, repr=False)


@record
class CudaSource:
    """The texts of NAME.cu and NAME.h."""

    name: str
    text: str
    header: str
    parallel: bool = False  # on the host
    shared: tuple[SharedUse, ...] = ()  # of its launches
    instructions: tuple[Instruction, ...] = ()  # of tensor cores
    dynamic_shared: Mapping[str, int] = field(default_factory=dict)  # bytes, by kernel
    fragments: Mapping[Memory, Span] = field(default_factory=dict, compare=False)  # where asked for
