"""Formats `.hb` text: canonical blanks, indents and columns; lines and comments stay the user's.

Statements begin lines of their own. In a run of lines, keywords of declarations are padded to one
width, and the operators of definitions and functions end in one column.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse, with_blocks
from hbc.frontend.text.spacing import UPDATES, Token, joined, tokens
from hbc.frontend.text.syntax import KEYWORDS
from hbc.frontend.text.version import version_span
from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import mutable, record
from hbc.ir.ground.source import Source

INDENT = "    "
PADDED = frozenset({"size", "param", "type", "input", "output", "table", "reduce"})
# Definitions whose left sides differ by more are not brought into one column.
WIDEST_GAP = 16


@mutable
class Row:
    """One line of the result. `item`: begins a statement; `gap`: a blank line stands before."""

    indent: int
    tokens: list[Token]
    comment: str = ""
    item: bool = False
    gap: bool = False


@record
class Starts:
    """Offsets at which things begin: statements, the lines and settings in blocks, and the
    statements that stand on one line."""

    statements: set[int] = field(default_factory=set)
    items: set[int] = field(default_factory=set)
    flat: set[int] = field(default_factory=set)


def format_source(source: Source) -> str:
    """The formatted text, which parses to the same tree. Raises HbcError for syntax errors."""
    file = parse(source)
    made = rows(list(tokens(source.text)), starts(file))
    text = "".join(f"{line}\n" for line in render(made))
    if parse(Source(source.name, text)) != file:
        raise InternalError(f"formatting changed the meaning of {source.name}")
    return text


def starts(file: ast.File) -> Starts:
    """Where the tree says that statements, lines and settings begin."""
    found = Starts()
    version = version_span(file.source)
    if version is not None:
        found.statements.add(version.start)
        found.flat.add(version.start)
    for s in with_blocks(file.statements):
        found.statements.add(s.span.start)
        if isinstance(s, ast.Each):
            each_starts(s, found)
        if isinstance(s, ast.Schedule):
            found.items.update(line.span.start for line in s.lines or ())
        if isinstance(s, ast.Example):
            found.items.update(setting.span.start for setting in s.settings)
        if "\n" not in s.span.text and not isinstance(s, ast.Kernel):
            found.flat.add(s.span.start)
    return found


def each_starts(s: ast.Each, found: Starts) -> None:
    """What stands in a block, and in the blocks in it."""
    for inner in s.body:
        found.items.add(inner.span.start)
        if "\n" not in inner.span.text:
            found.flat.add(inner.span.start)
        if isinstance(inner, ast.Each):
            each_starts(inner, found)


def rows(stream: Sequence[Token], at: Starts) -> list[Row]:
    """The tokens cut into lines."""
    made: list[Row] = []
    blocks: list[bool] = []  # those that are open, and whether each stands on one line
    flat = False  # whether the block that opens next does
    for number, token in enumerate(stream):
        new = Row(len(blocks), [token], gap=token.breaks > 1)
        on_one = bool(blocks) and blocks[-1]
        last = made[-1] if made else None
        if token.kind == "comment":
            if last is not None and token.breaks == 0:
                last.comment = token.text
                continue
            follows = next((t for t in stream[number:] if t.kind != "comment"), None)
            new.tokens, new.comment = [], token.text
            new.indent += continues(follows, at)
        elif token.text == ";" and token.kind == "mark":
            continue
        elif token.start in at.statements:
            new.item, flat = True, token.start in at.flat
        elif token.text == "}" and token.kind == "mark":
            blocks.pop()
            new.indent = len(blocks)
            new.gap = False
            if on_one and last is not None:
                last.tokens.append(token)
                continue
        elif token.start in at.items:
            flat = token.start in at.flat
            if last is not None and (on_one or beside(token, last, len(blocks))):
                if last.tokens[-1].text != "{":
                    last.tokens.append(Token("mark", ";", token.start, 0))
                last.tokens.append(token)
                continue
        elif last is not None and not last.comment and (token.breaks == 0 or token.text == "{"):
            if token.text == "{":
                blocks.append(flat)
            last.tokens.append(token)
            continue
        else:
            new.indent += 1
            if token.text == "{":
                blocks.append(flat)
        if last is None or (last.tokens and last.tokens[-1].text == "{"):
            new.gap = False
        made.append(new)
    return made


def beside(token: Token, last: Row, depth: int) -> bool:
    """Does an item of a block stay on the line of the one before?"""
    one_row = token.breaks == 0 and not last.comment and last.indent == depth
    return one_row and last.tokens[-1].text not in ("{", "}")


def continues(follows: Token | None, at: Starts) -> bool:
    """Does a comment stand amid a statement, before this token?"""
    if follows is None or follows.text == "}":
        return False
    return follows.start not in at.statements and follows.start not in at.items


def render(made: list[Row]) -> Iterator[str]:
    """The lines of the result."""
    run: list[Row] = []
    texts: list[str] = []
    for row in [*made, None]:
        kind = None if row is None else column_of(row)
        broken = row is None or row.gap or not run or kind != column_of(run[0])
        if run and broken:
            texts += aligned(run)
            run = []
        if row is not None and kind is not None:
            run.append(row)
        elif row is not None:
            texts.append(joined(row.tokens))
    for row, text in zip(made, texts, strict=True):
        if row.gap:
            yield ""
        comment = f"  {row.comment}" if text and row.comment else row.comment
        yield (INDENT * row.indent + text + comment).rstrip()


def column_of(row: Row) -> str | None:
    """What a line is aligned with: declarations, or definitions."""
    if not row.item or not row.tokens:
        return None
    first = row.tokens[0].text
    if first in PADDED:
        return "declaration"
    if first == "def":
        return "function"
    defines = first not in KEYWORDS and operator(row) not in (None, 1)  # 1: an alias
    return "definition" if defines else None


def operator(row: Row) -> int | None:
    """Where the operator of a definition stands."""
    depth = 0
    for number, token in enumerate(row.tokens):
        depth += (token.text in ("[", "(")) - (token.text in ("]", ")"))
        if depth == 0 and token.text in UPDATES:
            return number
    return None


def aligned(run: list[Row]) -> list[str]:
    """The lines of a run, in columns."""
    if column_of(run[0]) == "declaration":
        width = max(len(row.tokens[0].text) for row in run)
        return [f"{row.tokens[0].text:<{width}} {joined(row.tokens[1:])}" for row in run]
    parts = []
    for row in run:
        at = operator(row) or 0
        parts.append((joined(row.tokens[:at]), row.tokens[at].text, joined(row.tokens[at + 1 :])))
    lengths = [len(left) + 1 + len(op) for left, op, _ in parts]
    width = max(lengths)
    if width - min(lengths) > WIDEST_GAP:
        return [f"{left} {op} {right}" for left, op, right in parts]
    return [f"{left} {op:>{width - len(left) - 1}} {right}" for left, op, right in parts]
