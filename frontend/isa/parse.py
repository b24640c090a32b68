"""Parses instruction descriptions into their syntax tree, or says what is wrong with their syntax."""

from __future__ import annotations

import re

from hbc.frontend.isa import ast as isa_ast
from hbc.frontend.isa.tree import DescriptionBuilder
from hbc.frontend.text.giants import refuse_giants
from hbc.frontend.text.grammar import load_parser
from hbc.frontend.text.parse import MOST_ERRORS, no_collection, too_deep
from hbc.frontend.text.syntax import explain
from hbc.ir.ground.diag import Diagnostic, HbcError, left
from hbc.ir.ground.source import Source

# Where a description begins, whatever came before: where to go on after an error.
BEGIN = re.compile(r"^[ \t]*(?:feature|place|target|instruction)\b", re.MULTILINE)


def parse_descriptions(source: Source) -> isa_ast.Descriptions:
    """The tree of `source`. Raises HbcError with every independent syntax error found."""
    from lark.exceptions import UnexpectedInput

    refuse_giants(source)
    parser = load_parser("isa")
    mistakes: list[Diagnostic] = []
    text = source.text
    with no_collection():
        while len(mistakes) < MOST_ERRORS:
            try:
                tree = parser.parse(text)
            except UnexpectedInput as unexpected:
                diagnostic, at = explain(unexpected, source)
                mistakes.append(diagnostic)
                following = BEGIN.search(source.text, at + 1)
                if following is None:
                    break
                text = " " * following.start() + source.text[following.start() :]
                continue
            builder = DescriptionBuilder(source)
            descriptions: isa_ast.Descriptions = builder.build(tree)
            mistakes += builder.mistakes or too_deep(descriptions.described)
            if not mistakes:
                return descriptions
            break
    if len(mistakes) == MOST_ERRORS:
        mistakes.append(left(len(mistakes), source))
    raise HbcError(mistakes)
