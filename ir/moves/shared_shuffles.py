"""Which registers of a warp's threads one shuffle serves together.

Where some threads keep their own element of a register and others receive theirs, the threads that keep
it are free to receive an element of another register: threads that exchange halves of two registers need
one shuffle, not two.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.record import mutable

Numbers = NDArray[np.int64]
Lanes = NDArray[np.bool_]


@mutable
class SharedShuffle:
    """`sender[lane]` is the thread that a thread receives from, and `sent[lane]` the register that it
    sends; -1 for nothing. `receivers` has for each register the threads that receive it."""

    registers: list[int]
    receivers: list[Lanes]
    sender: Numbers
    sent: Numbers

    def admits(self, received: Lanes, sent: Numbers) -> bool:
        busy = (self.sender >= 0) & received
        both = (self.sent >= 0) & (sent >= 0)
        return not busy.any() and bool((self.sent[both] == sent[both]).all())

    def add(self, register: int, received: Lanes, lane: Numbers, sent: Numbers) -> None:
        self.registers.append(register)
        self.receivers.append(received)
        self.sender = np.where(received, lane, self.sender)
        self.sent = np.maximum(self.sent, sent)


def shared_shuffles(lane: Numbers, source: Numbers) -> list[SharedShuffle]:
    """[lane, register]: the thread and the register that are read, -1 (0) or -2 (nothing). One shuffle
    for each set of two or more registers; what is in none is left to others."""
    lanes, registers = lane.shape
    own = np.arange(lanes)
    shuffles: list[SharedShuffle] = []
    for register in range(registers):
        there, wanted = lane[:, register], source[:, register]
        received = (wanted >= 0) & (there != own)
        kept = (wanted >= 0) & ~received
        if not received.any() or not kept.any() or (wanted == -1).any():
            continue
        sent = np.full(lanes, -1, dtype=np.int64)
        sent[there[received]] = wanted[received]
        if (sent[there[received]] != wanted[received]).any():
            continue  # two registers are wanted of one thread
        for shuffle in shuffles:
            if shuffle.admits(received, sent):
                shuffle.add(register, received, there, sent)
                break
        else:
            nobody = np.full(lanes, -1, dtype=np.int64)
            alone = SharedShuffle([], [], nobody, nobody)
            alone.add(register, received, there, sent)
            shuffles.append(alone)
    return [shuffle for shuffle in shuffles if len(shuffle.registers) > 1]
