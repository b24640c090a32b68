"""Moves between the registers of a warp's threads, counted in instructions; exact, because every location
is known. Of three ways to make a move the cheapest counts.

An output register that every thread reads from one register of its own is only a name. Of several it
takes a select for each but one, by as many comparisons as there are distinct sets of threads. From other
threads it takes a shuffle; where no thread is asked for two of its registers at once, each selects what it
sends, else all are sent and the receivers select. Registers that each only some threads receive may share a
shuffle. Through shared memory every register is stored once, and
loaded with the bank conflicts of its addresses.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import field

import numpy as np
from numpy.typing import NDArray

from hbc.ir.ground.record import mutable
from hbc.ir.moves.bank_conflicts import WARP, arrangements, wavefronts_of_warps
from hbc.ir.moves.gather import Gather
from hbc.ir.moves.shared_shuffles import SharedShuffle, shared_shuffles
from hbc.synth.results.cost_table import CostTable
from hbc.synth.results.placement import Numbers, Placed

SECTOR_WORDS = 8  # of 4 bytes: what a load from memory moves at least
AFFINE_STEPS = 1  # instructions for an address a*i + b
OTHER_STEPS = 3  # for one with a division or a remainder

Mask = NDArray[np.bool_]


@mutable
class Tally:
    """Instructions by name; equal masks, addresses and shuffles are made once."""

    counts: Counter[str] = field(default_factory=Counter)
    made: set[bytes] = field(default_factory=set)

    def once(self, name: str, key: bytes, count: int = 1) -> None:
        if key not in self.made:
            self.made.add(key)
            self.counts[name] += count

    def select(self, masks: list[Mask]) -> None:
        """A select for each mask; a mask and its opposite are one comparison."""
        for mask in masks:
            self.counts["select"] += 1
            key = mask if mask[0] else ~mask
            self.once("comparison", b"mask" + np.packbits(key).tobytes())

    def address(self, places: Numbers, lanes: Mask) -> None:
        """The computation of what each of some lanes reads, unless it is the same for all."""
        self.once("address", b"at" + places.tobytes() + lanes.tobytes(), steps(places, lanes))


def steps(places: Numbers, lanes: Mask) -> int:
    """How many instructions compute an address from the lane's number."""
    own = np.flatnonzero(lanes)
    there = places[lanes]
    if own.size < 2 or (there == there[0]).all() or np.unique(own ^ there).size == 1:
        return 0  # an immediate: one lane for all, or a butterfly
    slopes = (there[1:] - there[:-1]) % (own[1:] - own[:-1])
    rises = (there[1:] - there[:-1]) // (own[1:] - own[:-1])
    size = len(places)  # shuffles take the lane modulo their width
    affine = not slopes.any() and np.unique(rises % size).size == 1
    return AFFINE_STEPS if affine else OTHER_STEPS


def warp_ways(placed: Placed) -> dict[str, Counter[str]]:
    """The instructions of every way to make a move."""
    own = np.arange(placed.lanes)[:, None]
    cared = placed.register >= 0
    if not (cared & (placed.lane != own)).any():
        return {"registers": in_registers(placed)}
    ways = {"shared memory": through_shared(placed)}
    warps = placed.lane // WARP == own // WARP
    if (warps | ~cared).all():
        ways["shuffles"] = by_shuffles(placed)
    return ways


def in_registers(placed: Placed) -> Counter[str]:
    """Every thread reads its own registers."""
    tally = Tally()
    for column in range(placed.register.shape[1]):
        tally.select(receiver_masks(placed.register[:, column]))
    return tally.counts


def receiver_masks(register: Numbers) -> list[Mask]:
    """For each source but the first the threads that take it; and those that take 0."""
    sources = np.unique(register[register >= 0])
    masks = [register == source for source in sources[1:]]
    if sources.size and (register == -1).any():
        masks.append(register == -1)
    return masks


def by_shuffles(placed: Placed) -> Counter[str]:
    tally = Tally()
    own = np.arange(placed.lanes)
    shared = shared_shuffles(placed.lane, placed.register)
    for shuffle in shared:
        _in_one_shuffle(tally, placed, shuffle)
    served = {column for shuffle in shared for column in shuffle.registers}
    for column in range(placed.register.shape[1]):
        if column in served:
            continue
        register, lane = placed.register[:, column], placed.lane[:, column]
        cared = register >= 0
        if not (cared & (lane != own)).any():
            tally.select(receiver_masks(register))
            continue
        sent = sent_registers(register, lane, placed.lanes)
        if sent is not None:
            _send(tally, sent, np.where(cared, lane, -1))
            if (register == -1).any():
                tally.select([register == -1])
            continue
        for source in np.unique(register[cared]):
            taken = register == source
            if (lane[taken] == own[taken]).all():
                continue
            tally.once("shuffle", b"one %d" % source + np.where(cared, lane, -1).tobytes())
        tally.address(np.where(cared, lane, -1), cared)
        tally.select(receiver_masks(register))
    return tally.counts


def _send(tally: Tally, sent: Numbers, sender: Numbers) -> None:
    """Each thread selects what it sends, in one shuffle."""
    tally.select([sent == s for s in np.unique(sent[sent >= 0])[1:]])
    tally.once("shuffle", b"sent" + sent.tobytes() + sender.tobytes())
    tally.address(sender, sender >= 0)


def _in_one_shuffle(tally: Tally, placed: Placed, shuffle: SharedShuffle) -> None:
    _send(tally, shuffle.sent, shuffle.sender)
    for column, received in zip(shuffle.registers, shuffle.receivers, strict=True):
        tally.select(receiver_masks(np.where(received, -2, placed.register[:, column])))
        tally.select([received])


def sent_registers(register: Numbers, lane: Numbers, lanes: int) -> Numbers | None:
    """What each thread sends in one shuffle (-1: nothing), or None where two are wanted of one."""
    sent = np.full(lanes, -1)
    cared = register >= 0
    sent[lane[cared]] = register[cared]
    return sent if (sent[lane[cared]] == register[cared]).all() else None


def through_shared(placed: Placed) -> Counter[str]:
    """In the arrangement with the fewest bank conflicts."""
    cared = placed.register >= 0
    used, dense = np.unique(placed.register[cared], return_inverse=True)
    register = np.full(placed.register.shape, -1)
    register[cared] = dense.reshape(-1)
    conflicts = [
        _stored_and_loaded(placed, register, words)
        for words in arrangements(placed.lanes, max(1, used.size)).values()
    ]
    return min(conflicts, key=lambda counts: counts["shared_store"] + counts["shared_load"])


def _stored_and_loaded(placed: Placed, register: Numbers, words: Numbers) -> Counter[str]:
    """For one arrangement; `register` numbers those that are stored."""
    tally = Tally()
    tally.counts["barrier"] = 1
    for stored in words.T:
        tally.counts["shared_store"] += wavefronts_of_warps(stored)
    for lane, source, original in zip(placed.lane.T, register.T, placed.register.T, strict=True):
        wanted = source >= 0
        if not wanted.any():
            continue
        read = np.where(wanted, words[lane, source], -1)
        tally.counts["shared_load"] += wavefronts_of_warps(read)
        tally.address(read, wanted)
        if (original == -1).any():
            tally.select([original == -1])
    return tally.counts


def loads(gather: Gather, lanes: int) -> Counter[str]:
    """Loads from memory: the sectors that the threads of a warp touch together."""
    counts: Counter[str] = Counter()
    index = gather.index.reshape(lanes, -1)
    for column in index.T:
        for start in range(0, lanes, WARP):
            words = column[start : start + WARP]
            counts["global_sector"] += np.unique(words[words >= 0] // SECTOR_WORDS).size
    return counts


def cheapest_way(placed: Placed, table: CostTable) -> tuple[str, Counter[str]]:
    """The way of least cost, shuffles before shared memory where both cost the same."""
    ways = warp_ways(placed)
    return min(sorted(ways.items(), reverse=True), key=lambda way: table.price(way[1]))
