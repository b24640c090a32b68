"""Pins that records come back from JSON as they were, and that nothing but the named classes is made."""

from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from hbc.cli.instruction_set import instruction_set
from hbc.ir.ground import source
from hbc.ir.ground.record_json import classes_of, from_json, to_json
from hbc.ir.lang import instruction, nodes, operators, target, types

CLASSES = classes_of((instruction, nodes, operators, source, target, types))


def same(a: Any, b: Any) -> bool:
    """With the fields that comparisons leave out."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in fields(a))
    return bool(a == b)


def test_every_description() -> None:
    known = instruction_set()
    again = from_json(to_json(known), CLASSES)
    assert same(again.instructions[:40], known.instructions[:40])
    assert again == known
    assert [i.span.text for i in again.instructions] == [
        i.span.text for i in known.instructions if i.span
    ]


def test_equal_numbers_of_different_types_stay_apart() -> None:
    value = (
        1,
        1.0,
        True,
        "1",
        None,
        (1,),
        (1.0,),
        (True,),
        float("inf"),
        {},
        {"1": 1},
        {1: {1.0: ()}},
    )
    again = from_json(to_json(value), {})
    assert repr(again) == repr(value)


@pytest.mark.parametrize(
    "text",
    [
        "", "[]", "null", '[["os.system"],[[0,"echo"]],[0]]', '[["tuple"],[[1]],[0]]',
        '[["tuple"],[[0,[7]]],[0]]', '[["tuple"],[],[0]]', '[["hbc.ir.lang.types.DType"],[[0]],[0]]',
        '[["dictionary"],[[0,1]],[0]]', '[["tuple","dictionary"],[[1],[0,[0],2],[1,[1]]],[2]]',
        '[["hbc.ir.lang.types.Kind"],[[0,"none"]],[0]]', "[" * 5000, '[["tuple"],[{}],[0]]',
    ],
)  # fmt: skip
def test_what_is_none(text: str) -> None:
    with pytest.raises(ValueError):
        from_json(text, CLASSES)
