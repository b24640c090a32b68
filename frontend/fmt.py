"""Formats `.hb` text: canonical blanks, indents and columns; lines and comments stay the user's.

Statements begin lines of their own. In a run of lines, keywords of declarations are padded to one
width, and the operators of definitions stand in one column.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hbc.frontend import ast
from hbc.frontend.parse import parse
from hbc.frontend.spacing import UPDATES, Token, joined, tokens
from hbc.ir.diag import InternalError
from hbc.ir.source import Source

INDENT = "    "
DECLARATIONS = frozenset({"size", "param", "type", "input", "output", "table", "bound", "require"})
# Left sides that differ by more are not brought into one column.
WIDEST_GAP = 16


@dataclass(slots=True)
class Row:
    """One line of the result. `item`: begins a statement; `gap`: a blank line stands before."""

    indent: int
    tokens: list[Token] = field(default_factory=list)
    comment: str = ""
    item: bool = False
    gap: bool = False


def format_source(source: Source) -> str:
    """The formatted text, which parses to the same tree. Raises HbcError for syntax errors."""
    file = parse(source)
    made = rows(source, file)
    text = "".join(f"{line}\n" for line in render(made))
    again = parse(Source(source.name, text))
    if again != file:
        raise InternalError(f"formatting changed the meaning of {source.name}")
    return text


def rows(source: Source, file: ast.File) -> list[Row]:
    """The tokens cut into lines."""
    top, inner, flat = starts(file)
    made: list[Row] = []
    depth = 0  # braces
    one_line = False  # inside a block that stands on one line
    for token in tokens(source.text):
        closing = token.text == "}" and token.kind == "mark"
        if closing and depth:
            depth -= 1
        begins = token.start in top or (token.start in inner and not one_line)
        whole_line = token.kind == "comment" and (token.breaks > 0 or not made)
        separate = token.start in inner and file_lines(token, inner)
        if token.kind == "comment" and not whole_line:
            made[-1].comment = token.text
        elif token.text == ";" and token.kind == "mark":
            if one_line or depth:
                made[-1].tokens.append(token)
        elif not made or token.start in top or whole_line or starts_row(
            token, begins and (token.breaks > 0 or separate), closing, one_line
        ):  # fmt: skip
            continued = not (begins or closing or whole_line) or (
                whole_line and inside_item(made, depth)
            )
            row = Row(depth + continued, [token], item=begins and not depth,
                      gap=token.breaks > 1 and bool(made) and not closing)  # fmt: skip
            if made and made[-1].tokens and made[-1].tokens[-1].text == "{":
                row.gap = False
            made.append(row)
        else:
            if token.start in inner and made[-1].tokens[-1].text not in ("{", ";"):
                made[-1].tokens.append(Token("mark", ";", token.start, 0))
            made[-1].tokens.append(token)
        if token.text == "{" and token.kind == "mark":
            depth += 1
            one_line = token.start in flat
        elif closing:
            one_line = False
    return made
