"""Where to go on after a syntax error, so that one run reports several of them.

The text before that place is blanked, not cut: offsets stay those of the file.
"""

from __future__ import annotations

import re

# Lines that can only begin a statement, whatever came before.
STATEMENT = re.compile(
    r"^[ \t]*(?:"
    r"(?:kernel|size|param|type|input|output|table|require|bound|reduce|schedule|example)\b"
    r"|for[ \t]+[A-Za-z_]\w*[ \t]+in\b"
    r"|\(?[A-Za-z_]\w*(?:\s*:\s*\w+)?[ \t]*\[[^\n]*\]\)?[ \t]*(?:<<|>>|[-+*/%|&^]|min|max)?=(?!=)"
    r")",
    re.MULTILINE,
)
HEADER = re.compile(r"\b(?:schedule|example)\b[^{}#]*\{")
KERNEL = re.compile(r"\bkernel\s+[A-Za-z_]\w*\s*\{")
STAGE = re.compile(r"^[ \t]*(?=[A-Za-z_]\w*[ \t]*\.)|^[ \t]*(?=\})", re.MULTILINE)
COMMENT = re.compile(r"#[^\n]*")


def resume_text(text: str, at: int) -> tuple[int, str | None]:
    """The first place after the error at `at` from which to parse, and the text to parse: None at
    the end of the file. The place lies after `at` unless `at` begins a line."""
    line = text.rfind("\n", 0, at) + 1
    begins_line = not text[line:at].strip()
    after = text.find("\n", at)
    start = line if begins_line and STATEMENT.match(text, line) else after + 1 if after >= 0 else -1
    if start < 0:
        return len(text), None
    head = enclosing_header(text, at)
    if head is not None and (inside := STAGE.search(text, start)):
        statement = STATEMENT.search(text, start)
        if statement is None or inside.end() <= statement.end():
            return inside.end(), blanked(text, inside.end(), head)
    match = STATEMENT.search(text, start)
    if match is None:
        return len(text), None
    return match.end(), blanked(text, match.start())


def blanked(text: str, end: int, head: re.Match[str] | None = None) -> str:
    """The text with blanks before `end`, but for this head of a block and that of a kernel which is open
    there."""
    kept = [k for k in (open_kernel(text, end), head) if k is not None]
    made, at = "", 0
    for k in kept:
        made += " " * (k.start() - at) + k[0]
        at = k.end()
    return made + " " * (end - at) + text[end:]


def open_kernel(text: str, at: int) -> re.Match[str] | None:
    """The head of the kernel in braces that the place lies in."""
    heads = list(KERNEL.finditer(text, 0, at))
    if not heads:
        return None
    last = heads[-1]
    between = COMMENT.sub("", text[last.end() : at])
    return last if between.count("{") >= between.count("}") else None


def enclosing_header(text: str, at: int) -> re.Match[str] | None:
    """The head of the schedule or example block that `at` lies in, if its brace is open there."""
    last = None
    for head in HEADER.finditer(text, 0, at):
        last = head
    if last is None or "}" in COMMENT.sub("", text[last.end() : at]):
        return None
    return last
