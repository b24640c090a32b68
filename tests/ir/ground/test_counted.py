"""Pins how numbers of things are said."""

from hbc.ir.ground.counted import counted


def test_counted() -> None:
    assert [counted(n, "load") for n in (0, 1, 2, 4096)] == [
        "0 loads",
        "1 load",
        "2 loads",
        "4,096 loads",
    ]
    assert [counted(n, "index", "indices") for n in (1, 2)] == ["1 index", "2 indices"]
