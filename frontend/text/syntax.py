"""Puts a syntax error into words: what was found, what could stand there, how it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hbc.frontend.text.openings import OPENINGS
from hbc.frontend.text.slips import slip_at
from hbc.frontend.text.version import misplaced
from hbc.ir.ground.diag import Diagnostic, Note, did_you_mean
from hbc.ir.ground.source import Source, Span

if TYPE_CHECKING:
    from lark.exceptions import UnexpectedInput

# How each statement is written, by the token that begins it: the hint of an error inside it.
FORMS = {
    "KERNEL": "kernel blur",
    "SIZE": "size M, N, K",
    "PARAM": "param alpha: f32 = 0.5",
    "TYPE": "type T = f32",
    "INPUT": "input A: f32[M, K]",
    "OUTPUT": "output C: f32[M, N]",
    "TABLE": "table W: f32[3] = [0.25, 0.5, 0.25]",
    "REQUIRE": 'require T <= W, "the kernel is wider than the image"',
    "BOUND": "bound begin in 0 .. N",
    "REDUCE": "reduce k in K, r in 1 .. R",
    "DEF": "def avg(a, b) = (a + b + 1) / 2",
    "IMPORT": 'import "std/image.hb"',
    "SCHEDULE": "schedule fast for avx512, avx2 { C.vectorize(j, 16) }",
    "EXAMPLE": "example { M = 512; A = random(1) }",
    "LET": "let t = a + b in t * t",
}
# Of what begins with a word or a mark that has other uses, too.
BLOCK_FORMS = {
    "EACH": "for l in 1 .. J { g[l][y, x] = down(g[l - 1])[y, x] }",
    "TUPLE": "(best[x], at[x]) = (A[x, 0], 0)",
    "WHILE": "v[x] = v[x] / 2 while t: v[x] > 1",
}
# The same for what stands in descriptions of instructions.
DESCRIPTION_FORMS = {
    "FEATURE": 'feature NAME { machine x86_64; cpuinfo "avx2"; flag "-mavx2"; probe { ... } }',
    "PLACE": "place zmm { machine x86_64; memory registers; count 32; row_bytes 64; ... }",
    "TARGET": 'target NAME "what it is" uses FEATURE, FEATURE',
    "INSTRUCTION": "instruction NAME(c: i32[4], a: u8[4, 4], b: i8[4, 4]) in PLACE { ... }",
    "ROUNDING": "rounding { product fused; chains 2 }",
    "EMIT": 'emit "{c} = intrinsic({c}, {a}, {b});"',
    "COST": "cost { latency 4; per_cycle 1 }",
    "NEEDS": "needs FEATURE, FEATURE",
    "SIZE": "size M, N <= 16",
}
KEYWORDS = {name.lower(): name for name in FORMS} | {
    word: word.upper()
    for word in ("in", "for", "where", "while", "and", "or", "not", "true", "false")
}
BEGIN = frozenset(FORMS) - {"LET"}

# Terminals in words, in the order in which a message lists them.
WORDS = {
    "LPAR": "`(`", "RPAR": "`)`", "LSQB": "`[`", "RSQB": "`]`", "LBRACE": "`{`", "RBRACE": "`}`",
    "COMMA": "`,`", "COLON": "`:`", "EQUAL": "`=`", "DOT": "`.`", "DOTS": "`..`",
    "IN": "`in`", "FOR": "`for`", "UPDATE": "`+=`", "STRING": "a string", "NAME": "a name",
    "TEMPLATE": "a string",
    "AT_MOST": "`<=`", "USES": "`uses`", "NUMBER": "a number",
}  # fmt: skip
ARRAY = ["NAME", "COLON", "NAME"]  # how an array is declared, after the word
CLOSING = {"LPAR": "RPAR", "LSQB": "RSQB", "LBRACE": "RBRACE"}


def explain(unexpected: UnexpectedInput, source: Source) -> tuple[Diagnostic, int]:
    """The diagnostic, and the offset at which the parser stopped."""
    from lark.exceptions import UnexpectedCharacters, UnexpectedToken

    if isinstance(unexpected, UnexpectedCharacters):
        at = cast(int, unexpected.pos_in_stream)
        return unreadable(source, at), at
    assert isinstance(unexpected, UnexpectedToken)
    token, parser = unexpected.token, unexpected.interactive_parser
    at_end = token.type == "$END"
    stack: list[Any] = list(parser.parser_state.value_stack)
    at = len(source.text.rstrip()) if at_end else token.start_pos
    span = Span(source, at, at + 1 if at_end else token.end_pos)
    before = last_token(source, at)
    slip = None if at_end else slip_at(source, at, before)
    if slip is not None:
        return slip, at
    bare = misplaced(stack, token.type, source) or without_extents(stack, token.type, source)
    if bare is not None:
        return bare, at
    accepts = acceptable(parser)
    found = "the end of the file" if at_end else f"`{token}`"
    opened = open_bracket(stack)
    if not at_end and opens_kernel(opened, stack):
        opened = None  # what follows may well stand in it
    if opened is not None and (at_end or token.type in BEGIN | {"RPAR", "RSQB", "RBRACE"}):
        wanted = WORDS[CLOSING[opened.type]]
        note = Note(f"`{opened}` opens here", Span(source, opened.start_pos, opened.end_pos))
        message = f"expected {wanted}, found {found}"
        mistaken = token.type == CLOSING[opened.type]
        if not mistaken and (CLOSING[opened.type] in accepts or "NUMBER" in accepts):
            return Diagnostic(message, span, None, (note,)), at
    described = in_description(stack)
    stray = None if described else misspelled(stack, token.type, source) or joined(stack, source)
    if stray is not None:
        return stray, at
    message = f"expected {expected(accepts)}, found {found}"
    begins_line = not source.text[source.text.rfind("\n", 0, at) + 1 : at].strip()
    if token.type.lower() in KEYWORDS and "NAME" in accepts and not begins_line:
        hint: str | None = f"`{token}` is a word of the language and cannot be a name"
    else:
        hint = form(stack)
    return Diagnostic(message, span, hint), at


def without_extents(stack: list[Any], found: str, source: Source) -> Diagnostic | None:
    """An array that is declared, or read, without a dimension."""
    kinds = [getattr(item, "type", "") for item in stack]
    empty = found == "RSQB" and kinds[-1:] == ["LSQB"]
    if empty:
        kinds = kinds[:-1]
    if not stack:
        return None
    end = stack[-1]
    declared = kinds[-4] if kinds[-3:] == ARRAY and len(kinds) > 3 else ""
    if declared in ("INPUT", "OUTPUT", "TABLE"):
        if found == "LSQB" or (declared == "INPUT" and not empty):
            return None
        word, name, _, type_ = stack[-5:-1] if empty else stack[-4:]
        one = f"`{word} {name}: {type_}[1]{' = [...]' if word == 'table' else ''}`, read as `{name}[0]`"
        param = f"a number known when the kernel is compiled is `param {name}: {type_} = ...`"
        hint = {
            "input": f"one number, given to each call, is `input {name}: {type_}`, read as `{name}`; an "
            f"array of one is {one}; {param} (`--set`)",
            "output": f"one number is an array of one: {one.partition(',')[0]}, defined as `{name}[i] = ...`",
            "table": f"{param}; a table of one is {one}",
        }[str(word)]
        span = Span(source, type_.start_pos, end.end_pos + 1 if empty else type_.end_pos)
        return Diagnostic(f"the {word} `{name}` has no extents", span, hint)
    if empty and kinds[-1:] == ["NAME"]:
        name = stack[-2]
        span = Span(source, name.start_pos, end.end_pos + 1)
        return Diagnostic(
            f"`{name}[]` has no index",
            span,
            f"what has one element is read at 0: `{name}[0]`, a scalar as `{name}`",
        )
    return None


def acceptable(parser: Any) -> set[str]:
    """The terminals that the parser could take next. (Lark does not type this one.)"""
    found: set[str] = parser.accepts()
    return found


def expected(accepts: set[str]) -> str:
    """What could stand there, in words, from the most to the least telling."""
    if accepts >= {"NUMBER", "LPAR"}:
        closing = [WORDS[t] for t in ("RPAR", "RSQB") if t in accepts]
        return " or ".join(["an expression", *closing])
    if "INSTRUCTION" in accepts:
        clauses = "`emit`, `cost`, `needs`, " if "EMIT" in accepts else ""
        return f"{clauses}`instruction`, `place`, `feature` or `target`"
    if accepts >= BEGIN:
        if "BINARY" in accepts:
            return "an operator or a new statement"
        return "a statement"
    words = [word for terminal, word in WORDS.items() if terminal in accepts]
    if "BINARY" in accepts:
        words.append("an operator")
    return " or ".join(words[-4:]) if words else "something else"


def unreadable(source: Source, at: int) -> Diagnostic:
    """A character that begins no token."""
    character = source.text[at]
    slip = slip_at(source, at, last_token(source, at))
    if slip is not None:
        return slip
    shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
    hint = (
        None
        if character.isprintable()
        else "take this character out, which shows nothing by itself"
    )
    return Diagnostic(f"{shown} has no meaning here", Span(source, at, at + 1), hint)


def misspelled(stack: list[Any], found: str, source: Source) -> Diagnostic | None:
    """Two names in a row at the start of a statement: the first was to be a keyword."""
    if found != "NAME" or not stack or getattr(stack[-1], "type", "") != "NAME":
        return None
    if len(stack) > 1 and isinstance(stack[-2], str):
        return None
    first = stack[-1]
    span = Span(source, first.start_pos, first.end_pos)
    if first.upper() in DESCRIPTION_FORMS:
        hint = "instructions are described in files of their own: `hbc instructions --isa FILE`"
        return Diagnostic(f"`{first}` begins no statement of a kernel", span, hint)
    close = OPENINGS.get(str(first)) or did_you_mean(str(first), (n.lower() for n in BEGIN))
    if close is None:
        close = "statements begin with a keyword such as `input`, or define: `f[x] = ...`"
    return Diagnostic(f"`{first}` begins no statement", span, close)


def joined(stack: list[Any], source: Source) -> Diagnostic | None:
    """A definition that begins amid a line: what stands before it wants an operator or a comma."""
    after_indices = bool(stack) and getattr(stack[-1], "data", "") == "indices"
    tail = stack[-2:] if after_indices else stack[-1:]
    name = tail[0] if tail else None
    if getattr(name, "type", "") != "NAME" or name is None:
        return None
    if len(stack) > len(tail) and isinstance(stack[-len(tail) - 1], str):
        return None
    line = source.text.rfind("\n", 0, name.start_pos) + 1
    if not source.text[line : name.start_pos].strip():
        return None
    slip = slip_at(source, name.start_pos, last_token(source, name.start_pos))
    span = Span(source, name.start_pos, name.end_pos)
    missing = Diagnostic(f"an operator, a comma or a line break is missing before `{name}`", span)
    return slip or missing


def open_bracket(stack: list[Any]) -> Any:
    """The innermost bracket that is still open."""
    opened: list[Any] = []
    for item in stack:
        kind = getattr(item, "type", "")
        if kind in CLOSING:
            opened.append(item)
        elif kind in CLOSING.values() and opened:
            opened.pop()
    return opened[-1] if opened else None


def opens_kernel(bracket: Any, stack: list[Any]) -> bool:
    """Whether it is the brace behind `kernel NAME`."""
    at = next((i for i, item in enumerate(stack) if item is bracket), 0)
    return at >= 2 and getattr(stack[at - 2], "type", "") == "KERNEL"


def form(stack: list[Any]) -> str | None:
    """How the statement is written in which the parser stopped."""
    forms = FORMS | DESCRIPTION_FORMS if in_description(stack) else FORMS | BLOCK_FORMS
    for item in reversed(stack):
        kind = getattr(item, "type", "")
        if kind == "LBRACE" and opens_kernel(item, stack):
            return None
        if kind in forms:
            elements = (
                "`B[i] = A[i]` covers all positions; a family of Funcs: " if kind == "EACH" else ""
            )
            return f"{elements}it is written `{forms[kind]}`"
    return None


def in_description(stack: list[Any]) -> bool:
    """Whether the parser stopped inside the description of an instruction, feature, place or target."""
    return any(getattr(item, "type", "") in DESCRIPTION_FORMS.keys() - {"SIZE"} for item in stack)


def last_token(source: Source, at: int) -> str:
    """The text before the offset, without blanks and without a comment on the same line."""
    return source.text[max(0, at - 80) : at].rstrip()
