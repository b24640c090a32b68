"""Where an instruction may want its bytes: layouts of a register, in units that earlier ones move whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from hbc.ir.moves.gather import UNDEFINED, Locations

Mask = NDArray[np.bool_]
BLOCK_BYTES = 16


def laid_out(
    row: Locations, classes: NDArray[np.int64], per: int, block: int, watch: Callable[[], None]
) -> Iterator[Locations]:
    """Registers from which an instruction, whose bytes of one class read all that lies in places of that
    class, makes the row: of aligned units of the sources, or of bytes that lie in one block of a source,
    packed into units. A class of places is where its bytes stand: instructions that choose read their own
    block, or everything."""
    seen: set[bytes] = set()
    wanted = row.tolist()
    places = [np.flatnonzero(classes == number).tolist() for number in np.unique(classes)]
    for size in (1 << k for k in range(1, block.bit_length())):
        if size < per or any(len(some) % size for some in places):
            continue
        for packed in (False, True):
            watch()
            layout = _layout(wanted, places, size, packed, per, row.size, block)
            if layout is not None and layout.tobytes() not in seen:
                seen.add(layout.tobytes())
                yield layout


def _layout(
    row: list[int],
    classes: list[list[int]],
    size: int,
    packed: bool,
    per: int,
    lanes: int,
    block: int,
) -> Locations | None:
    asked = [UNDEFINED] * lanes
    for places in classes:
        slots = places[::size]
        wanted = [row[place] for place in places]
        units = _packed(wanted, size, per, block) if packed else _aligned(wanted, size, per)
        if units is None or len(units) > len(slots):
            return None
        for unit, slot in _placed(units, slots, size, lanes, block):
            asked[slot : slot + size] = unit
    return np.array(asked, dtype=np.int32)


def _aligned(wanted: list[int], size: int, per: int) -> list[list[int]] | None:
    """The units of the sources in which the bytes lie; None where groups of `per` are no units of them."""
    if per > 1:
        for start in range(0, len(wanted), per):
            bases = {w - at for at, w in enumerate(wanted[start : start + per]) if w >= 0}
            if len(bases) > 1 or any(base % per for base in bases):
                return None
    held = set(wanted)
    return [
        [byte if byte in held else UNDEFINED for byte in range(base * size, (base + 1) * size)]
        for base in sorted({w // size for w in wanted if w >= 0})
    ]


def _packed(wanted: list[int], size: int, per: int, block: int) -> list[list[int]] | None:
    """The bytes, or the groups of `per` that stay together, of each block of a source, side by side."""
    groups: dict[int, dict[tuple[int, ...], None]] = {}
    for start in range(0, len(wanted), per):
        group = tuple(wanted[start : start + per])
        blocks = {w // block for w in group if w >= 0}
        if len(blocks) > 1:
            return None
        if blocks:
            groups.setdefault(blocks.pop(), {})[group] = None
    units: list[list[int]] = []
    each = size // per
    for _, members in sorted(groups.items()):
        chunks = list(members)
        for start in range(0, len(chunks), each):
            unit = [byte for chunk in chunks[start : start + each] for byte in chunk]
            units.append(unit + [UNDEFINED] * (size - len(unit)))
    return units


def _placed(
    units: list[list[int]], slots: list[int], size: int, lanes: int, block: int
) -> list[tuple[list[int], int]]:
    """Each unit in its own place if that is free, else in its own block, else anywhere."""
    free = dict.fromkeys(slots)
    placements: list[tuple[list[int], int]] = []
    left: list[list[int]] = []
    for unit in units:
        bases = {(w - at) % lanes for at, w in enumerate(unit) if w >= 0}
        own = bases.pop() if len(bases) == 1 else -1
        if own in free:
            del free[own]
            placements.append((unit, own))
        else:
            left.append(unit)
    for near in (True, False):
        later: list[list[int]] = []
        for unit in left:
            blocks = {w % lanes // block for w in unit if w >= 0}
            slot = next((s for s in free if not near or {s // block} >= blocks), None)
            if slot is None:
                later.append(unit)
            else:
                del free[slot]
                placements.append((unit, slot))
        left = later
    return placements


def split_rows(row: Locations, lanes: int, block: int, sources: int) -> Iterator[Mask]:
    """Which bytes of a row come from the first of two registers: by sources, by how far the blocks are, or
    places within bytes where elements are less, by halves of what a block has to take."""
    held = row >= 0
    seen: set[bytes] = set()
    masks: list[Mask] = []
    numbers = np.unique(row[held] // lanes)
    for count in range(1, numbers.size):
        masks.append(~held | np.isin(row // lanes, numbers[:count]))
        masks.append(~held | ~np.isin(row // lanes, numbers[:count]))
    if sources == 1 or numbers.size <= 1:
        distance = (row // block - np.arange(lanes) // block) % max(1, lanes // block)
        for one in np.unique(distance[held]):
            masks.append(~held | (distance != one))
    byte = block // BLOCK_BYTES
    if byte > 1:
        within = np.arange(lanes) % byte - row % byte
        masks += [~held | (within != one) for one in np.unique(within[held])]
    masks.append(_halved(row, lanes, block))
    for mask in masks:
        if mask.all() or not (mask & held).any() or mask.tobytes() in seen:
            continue
        seen.add(mask.tobytes())
        yield mask


def _halved(row: Locations, lanes: int, block: int) -> Mask:
    """Of each block the bytes of the first half of the words that it wants."""
    mask = np.ones(lanes, dtype=np.bool_)
    for start in range(0, lanes, block):
        part = row[start : start + block]
        words = np.unique(part[part >= 0] // 2)
        later = words[block // 2 :]
        mask[start : start + block] = ~np.isin(part // 2, later) | (part < 0)
    return mask
