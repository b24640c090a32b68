"""What is said where a C compiler refuses a kernel's text: that hbc is wrong, or the description of a
user's own instruction."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from hbc.codegen.text.instruction_files import builtin_descriptions
from hbc.codegen.text.instruction_text import PLACEHOLDER
from hbc.ir.ground.diag import Diagnostic, HbcError, InternalError, Note, ToolError
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Span
from hbc.ir.lang.instruction import Instruction, Template

MOST_LINES = 20  # of what the compiler says, in the report of a bug
MOST_SHOWN = 160  # characters of a statement or of what the compiler says of it
_ERROR = re.compile(r"\berror:\s*(\S.*)", re.IGNORECASE)
_NO_HEADER = re.compile(r"fatal error: [^\n]*(?:No such file|file not found)")
_OPTION = re.compile(r"\s*\[-W[^]]*\]$")  # which made it an error


@record
class Refused:
    """What a compiler was given, and what it said. `program`: its command, as messages name it."""

    program: str
    file: str
    text: str
    instructions: tuple[Instruction, ...]
    said: str


def refusal(r: Refused) -> HbcError | InternalError:
    """The user's mistake where an instruction of a file of the user's is in the code, else ours; the
    tool's where it says nothing of the text, or lacks a header."""
    theirs = [i for i in r.instructions if _is_users(i)]
    if not theirs and (r.file not in r.said or _NO_HEADER.search(r.said)):
        hint = "CC names another compiler"
        return ToolError(Diagnostic(f"{r.program} failed: {_first_error(r.said)}", hint=hint))
    if not theirs:
        said = "\n".join(r.said.splitlines()[:MOST_LINES])
        return InternalError(f"{r.program} refuses {r.file}:\n{said}")
    for line in _lines(r):
        for i in theirs:
            for t in i.templates:
                if _prints(t, line):
                    return HbcError(_of_template(r, i, t, line))
    return HbcError(_of_any(r, theirs))


def _of_template(r: Refused, i: Instruction, t: Template, line: str) -> Diagnostic:
    """Where the compiler names the statement that a template makes."""
    needs = ", ".join(f.name for f in i.needs)
    form = "cu" if i.place.machine == "cuda" else "c"
    if t.is_asm:
        known = f"mend the template: it is assembler text for a processor with {needs}"
    elif i.place.header:
        known = (
            f"mend the template: it may use what <{i.place.header}> declares for {needs}{_types(i)}"
        )
    else:
        known = f"mend the template: it is a statement for what has {needs}{_types(i)}"
    return Diagnostic(
        f"{r.program} refuses what is printed for `{i.name}`, `{_shortened(line.strip())}`: "
        f"{_first_error(r.said)}",
        t.span, f"{known}; `hbc compile --emit {form}` writes the whole text",
    )  # fmt: skip


def _of_any(r: Refused, theirs: Sequence[Instruction]) -> Diagnostic:
    """Where it may be any of several, or something else of their descriptions."""
    first, *others = theirs
    names = ", ".join(f"`{i.name}`" for i in theirs)
    notes = [Note(f"what `{i.name}` prints", span) for i in others if (span := _place(i))]
    return Diagnostic(
        f"{r.program} refuses the code that uses {names}: {_first_error(r.said)}",
        _place(first),
        "look at the template, at the header and the types of its place, at the flags of what it needs; "
        "without `--isa` none of it is used",
        tuple(notes),
    )


def _types(i: Instruction) -> str:
    """What the operands are, in words that end a sentence; nothing where they are numbers."""
    types = {t for o in i.operands if (t := i.place.c_type(o.element))}
    return f", on operands of type {' and '.join(f'`{t}`' for t in sorted(types))}" if types else ""


def _is_users(i: Instruction) -> bool:
    """Whether its description is none of those that hbc comes with."""
    if i.span is None:
        return False
    return i.span.source.name not in {str(path) for path in builtin_descriptions()}


def _place(i: Instruction) -> Span | None:
    return next((t.span for t in i.templates if t.span is not None), i.span)


def _lines(r: Refused) -> Iterator[str]:
    """The lines of the text that the compiler names, in its order."""
    text = r.text.split("\n")
    for match in re.finditer(rf"(?<![\w.]){re.escape(r.file)}[:(](\d+)", r.said):
        number = int(match[1])
        if 0 < number <= len(text):
            yield text[number - 1]


def _prints(t: Template, line: str) -> bool:
    """Whether a line may be what the template makes."""
    pieces = PLACEHOLDER.split(t.text)[::2]
    return re.search(".+".join(map(re.escape, pieces)), line) is not None


def _first_error(said: str) -> str:
    """Without the place, which is in a file that is gone; else the first line there is."""
    match = _ERROR.search(said)
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    text = match[1] if match else lines[0] if lines else "it does not say why"
    return _shortened(_OPTION.sub("", text))


def _shortened(text: str) -> str:
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}.."
