"""Words that begin statements elsewhere: each is answered by what is written here, which hbc accepts."""

from __future__ import annotations

import re

import pytest

from hbc.frontend.checks.check import check
from hbc.frontend.text.openings import OPENINGS
from hbc.frontend.text.parse import parse
from hbc.frontend.text.syntax import KEYWORDS
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source

HEAD = "size N, H, W, K, T\ninput X: f32[N]\ninput P: f32[H, W, K, T]\noutput O: f32[N]\n"
# The examples of the hints that are statements.
STATEMENT = re.compile(r"`((?:input|param|reduce|type|require|def|import) [^`]*)`")


@pytest.mark.parametrize("word", sorted(OPENINGS))
def test_a_word_of_another_language_is_answered(word: str) -> None:
    with pytest.raises(HbcError) as failure:
        parse(Source("k.hb", f"{HEAD}{word} x\nO[i] = X[i]\n"))
    (mistake,) = failure.value.diagnostics
    assert mistake.hint == OPENINGS[word]
    assert mistake.message == f"`{word}` begins no statement"
    span = mistake.span
    assert span is not None
    assert span.source.text[span.start : span.end] == word


def test_none_is_a_word_of_the_language() -> None:
    assert not set(OPENINGS) & set(KEYWORDS)


STATEMENTS = sorted({s for hint in OPENINGS.values() for s in STATEMENT.findall(hint)})


@pytest.mark.parametrize("statement", STATEMENTS)
def test_what_hints_say_is_accepted(statement: str) -> None:
    reduction = re.match(r"reduce (\w+)", statement)
    body = f"O[i] = 0\nO[i] += X[i] where {reduction[1]} >= 0" if reduction else "O[i] = X[i]"
    head = HEAD.replace("T", "L") if statement.startswith("type T") else HEAD
    check(parse(Source("k.hb", f"{head}{statement}\n{body}\n")), {})
