"""Shuffles of bytes in registers of several 128-bit blocks, which no one instruction moves freely.

Two do: one moves 32-bit words anywhere, one (pshufb) moves bytes inside each block. Words first, when
each block of the result is made of four words; bytes first, when each word of the result comes out of
one block. Else block after block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hbc.codegen.x86.types import setr, width_prefix
from hbc.ir.lang.types import I8

Sources = list[list[int]]
"""For each register the byte (or word) that each one of the result is, or -1."""
WordShuffle = Callable[[list[str], Sources], str]


def shuffled_bytes(loads: list[str], sources: Sources, words: WordShuffle) -> str:
    """Byte i of the result is byte `sources[j][i]` of register j, for the one j where that is not -1;
    0 where there is none. `words` shuffles 32-bit words."""
    return (
        _words_first(loads, sources, words)
        or _bytes_first(loads, sources, words)
        or _by_block(loads, sources)
    )


def _words_first(loads: list[str], sources: Sources, words: WordShuffle) -> str | None:
    """Each block of the result from at most four words."""
    size = len(sources[0])
    chosen: list[tuple[int, int]] = []  # register and word, for each word of the shuffled registers
    picks: list[int] = []
    for start in range(0, size, 16):
        wanted = [_origin(sources, i) for i in range(start, start + 16)]
        own = list(dict.fromkeys((j, b // 4) for j, b in wanted if j >= 0))
        if len(own) > 4:
            return None
        own += [own[-1] if own else (0, 0)] * (4 - len(own))
        here = [(0, start // 4 + k) for k in range(4)]
        if len(loads) == 1 and set(own) <= set(here):
            own = here
        chosen += own
        picks += [own.index((j, b // 4)) * 4 + b % 4 if j >= 0 else -1 for j, b in wanted]
    moved = [[w if r == j else -1 for r, w in chosen] for j in range(len(loads))]
    return _in_blocks(_moved(loads, moved, words), picks)


def _bytes_first(loads: list[str], sources: Sources, words: WordShuffle) -> str | None:
    """Each word of the result from one block, and at most four different ones from each."""
    size = len(sources[0])
    made: dict[tuple[int, int], list[tuple[int, ...]]] = {}  # register, block -> words made of it
    where: list[tuple[int, int]] = []
    for start in range(0, size, 4):
        wanted = [_origin(sources, i) for i in range(start, start + 4)]
        blocks = {(j, b // 16) for j, b in wanted if j >= 0}
        if len(blocks) > 1:
            return None
        register, block = min(blocks, default=(0, 0))
        word = tuple(b % 16 if j >= 0 else -1 for j, b in wanted)
        own = made.setdefault((register, block), [])
        if word not in own:
            own.append(word)
        if len(own) > 4:
            return None
        where.append((register, block * 4 + own.index(word)))
    formed = []
    for j, text in enumerate(loads):
        picks: list[int] = []
        for block in range(size // 16):
            bytes_ = [b for word in made.get((j, block), []) for b in word]
            picks += bytes_ + [-1] * (16 - len(bytes_))
        formed.append(_in_blocks(text, picks))
    return _moved(
        formed, [[w if r == j else -1 for r, w in where] for j in range(len(loads))], words
    )


def _by_block(loads: list[str], sources: Sources) -> str:
    """What each block of each register contributes, one after the other."""
    size = len(sources[0])
    p, result = width_prefix(8 * size), ""
    for text, source in zip(loads, sources, strict=True):
        for block in range(size // 16):
            picks = [b % 16 if b // 16 == block else -1 for b in source]
            if max(picks) < 0:
                continue
            if size == 64:
                copies = f"_mm512_shuffle_i32x4({text}, {text}, {block * 0x55:#x})"
            else:
                copies = f"_mm256_permute4x64_epi64({text}, {0xEE if block else 0x44:#x})"
            part = f"{p}_shuffle_epi8({copies}, {_index(picks)})"
            result = f"{p}_or_si{8 * size}({result}, {part})" if result else part
    return result


def _origin(sources: Sources, i: int) -> tuple[int, int]:
    """Register and byte that byte i of the result is; (-1, 0) for none."""
    return next(((j, source[i]) for j, source in enumerate(sources) if source[i] >= 0), (-1, 0))


def _moved(loads: list[str], sources: Sources, words: WordShuffle) -> str:
    """Words moved, unless each stays where it is."""
    used = [j for j, source in enumerate(sources) if max(source) >= 0]
    if len(used) == 1 and sources[used[0]] == list(range(len(sources[0]))):
        return loads[used[0]]
    return words([loads[j] for j in used], [sources[j] for j in used])


def _in_blocks(text: str, picks: Sequence[int]) -> str:
    """Bytes moved inside each block; -1 gives 0."""
    if all(p == i % 16 for i, p in enumerate(picks)):
        return text
    return f"{width_prefix(8 * len(picks))}_shuffle_epi8({text}, {_index(picks)})"


def _index(picks: Sequence[int]) -> str:
    return setr(I8, len(picks), [str(p) for p in picks])


def bytes_of(sources: Sources, size: int) -> Sources:
    """Sources of elements of `size` bytes, as sources of bytes."""
    return [
        [s * size + k if s >= 0 else -1 for s in source for k in range(size)] for source in sources
    ]
