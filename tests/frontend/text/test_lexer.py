"""One expression for all states finds the tokens that Lark's own lexer does, or the same mistake."""

import random
from functools import cache

import pytest
from lark import Lark
from lark.exceptions import UnexpectedInput

from hbc.frontend.text.grammar import FRONTEND, LANGUAGES, load_parser

ROOT = FRONTEND.parent
TEXTS = {
    "hb": sorted([*ROOT.glob("samples/**/*.hb"), *ROOT.glob("tests/fuzz/corpus/*.hb")]),
    "isa": sorted(ROOT.glob("codegen/isa/*.hb")),
    "sf": sorted([*ROOT.glob("samples/**/*.sf"), *ROOT.glob("codegen/isa/*.sf")]),
}
MUTATIONS = 40  # of each language


@cache
def lark_itself(language: str) -> Lark:
    *files, start = LANGUAGES[language]
    grammar = "\n".join((FRONTEND / file).read_text(encoding="utf-8") for file in files)
    return Lark(grammar, parser="lalr", start=start, keep_all_tokens=True, maybe_placeholders=False)


def outcome(parser: Lark, text: str) -> object:
    """The tokens of the tree, with their places, or what is unexpected and what was expected instead."""
    try:
        tree = parser.parse(text)
    except UnexpectedInput as mistake:
        expected = getattr(mistake, "accepts", None) or getattr(mistake, "allowed", None)
        return (
            type(mistake),
            mistake.pos_in_stream,
            mistake.line,
            mistake.column,
            sorted(expected or ()),
        )
    tokens = tree.scan_values(lambda _: True)
    return [
        (t.type, str(t), t.start_pos, t.line, t.column, t.end_pos, t.end_line, t.end_column)
        for t in tokens
    ]


def mutated(text: str, random_: random.Random) -> str:
    """The text with a piece left out, doubled or put elsewhere, which keeps most of its words."""
    start, end = sorted(random_.sample(range(len(text) + 1), 2))
    end = min(end, start + 12)
    to = random_.randrange(len(text) + 1)
    rest = text[:start] + random_.choice(["", text[start:end]]) + text[end:]
    return rest[:to] + text[start:end] + rest[to:]


@pytest.mark.parametrize("language", LANGUAGES)
def test_texts(language: str) -> None:
    assert TEXTS[language]
    for path in TEXTS[language]:
        text = path.read_text(encoding="utf-8")
        assert outcome(load_parser(language), text) == outcome(lark_itself(language), text), path


@pytest.mark.parametrize("language", LANGUAGES)
def test_mutated_texts(language: str) -> None:
    random_ = random.Random(7)
    wrong = 0
    for _ in range(MUTATIONS):
        text = mutated(random_.choice(TEXTS[language]).read_text(encoding="utf-8"), random_)
        expected = outcome(lark_itself(language), text)
        assert outcome(load_parser(language), text) == expected, text
        wrong += isinstance(expected, tuple)
    assert wrong > 0


def test_words_that_are_keywords_elsewhere() -> None:
    """`min=` is an update in a definition and a setting in an example; `for` before `l in` is another."""
    text = (
        "for l in 0 .. 2 { f[x] min= a[l] }\nexample { min=3 }\nschedule s for c { f.bound(min=3) }"
    )
    assert outcome(load_parser(), text) == outcome(lark_itself("hb"), text)
