"""The kinds of error codes that entry points return, apart from all that prints them."""

from __future__ import annotations

# Sizes above 2^40 are refused, so that no index expression overflows.
LARGEST_BITS = 40
# The thousands of an error code say what is wrong, the rest says where: see `code_value`.
BLOCK, AGAIN = 1000, 100_000
(
    SIZE,
    NULL,
    ALIGN,
    EXTENT,
    STRIDE,
    LARGE,
    OVERLAP,
    REQUIRE,
    ASSERT,
    MEMORY,
    FEATURE,
    CUDA,
    PACKED,
) = (BLOCK * k for k in range(1, 14))


def code_value(kind: int, number: int) -> int:
    """The code of the case of this number, from 1: the kind plus the number. From 1,000 cases on, which
    would run into the next kind, the thousands go on in the next 100,000: 107,000 follows 7,999."""
    return kind + number % BLOCK + number // BLOCK * AGAIN


def code_kind(value: int) -> int:
    """What is wrong: one of the kinds above, or 0."""
    return value % AGAIN // BLOCK * BLOCK
