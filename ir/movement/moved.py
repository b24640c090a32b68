"""What `hbc explain` says of accesses that were moved."""

from __future__ import annotations

from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span


@record
class Moved:
    """What became of some accesses of a buffer: `vectors` of them, by so many `moves` instructions between
    `whole` loads or stores, where it would have taken `before` instructions."""

    buffer: str
    stored: bool
    type: str
    vectors: int
    whole: int
    moves: int
    before: int
    span: Span | None
