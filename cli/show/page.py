"""`hbc compile --emit html`: source, loop nest and C on one page.

Pointing at a line of the schedule marks the C that came from it, and the other way round. The page
needs nothing beside itself and is about as long as the three texts together.
"""

from __future__ import annotations

import re
from html import escape

from hbc.frontend.program.funcs import Schedule
from hbc.ir.ground.printable import printable, printable_line

STYLE = """
body { margin: 0; font: 13px/1.45 ui-monospace, monospace; display: flex; height: 100vh;
       color: #1c1e21; background: #fff }
section { flex: 1; min-width: 0; overflow: auto; border-right: 1px solid #d8dbe0 }
section.code { flex: 2 }
h2 { font: 600 13px system-ui, sans-serif; margin: 0; padding: 8px 12px; position: sticky; top: 0;
     background: #f4f5f7; border-bottom: 1px solid #d8dbe0 }
pre { margin: 0; padding: 8px 12px }
.line { display: block; min-height: 1.45em; white-space: pre }
.number { display: inline-block; width: 4ch; padding-right: 1ch; color: #8a9099; text-align: right;
          user-select: none }
.from { cursor: pointer }
.comment { color: #5b7083 }
.marked { background: #fff0b8 }
@media (prefers-color-scheme: dark) {
  body { color: #e3e5e8; background: #16181b } h2 { background: #202328 }
  section, h2 { border-color: #33373d } .marked { background: #5a4a12 } .comment { color: #93a7ba }
}
"""
SCRIPT = """
for (const line of document.querySelectorAll('[data-from]')) {
  const same = document.querySelectorAll(`[data-from="${line.dataset.from}"]`);
  line.addEventListener('mouseenter', () => same.forEach(x => x.classList.add('marked')));
  line.addEventListener('mouseleave', () => same.forEach(x => x.classList.remove('marked')));
  line.addEventListener('click', () => [...same].find(
    x => x.closest('section') !== line.closest('section'))?.scrollIntoView({block: 'center'}));
}
"""


def page(title: str, source: str, schedule: Schedule | None, loops: str, code: str) -> str:
    """The HTML document."""
    lines = schedule_lines(schedule)
    wanted = set(lines.values())
    left = [_line(text, n if n in wanted else None, n) for n, text in _numbered(source)]
    right = [_line(text, made_by(text, lines), n) for n, text in _numbered(code)]
    middle = [_line(text, None, None) for _, text in _numbered(loops)]
    parts = [("Algorithm and schedule", left, ""), ("Loops", middle, ""), ("C", right, "code")]
    sections = "\n".join(
        f'<section class="{kind}"><h2>{name}</h2><pre>{"".join(body)}</pre></section>'
        for name, body, kind in parts
    )
    named = escape(printable_line(title))
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{named}</title>'
        f"<style>{STYLE}</style></head>\n<body>\n{sections}\n<script>{SCRIPT}</script>\n</body></html>\n"
    )


def schedule_lines(schedule: Schedule | None) -> dict[tuple[str, str], int]:
    """The line of the source by Func and directive, as comments of the C spell them."""
    lines: dict[tuple[str, str], int] = {}
    for line in () if schedule is None else schedule.lines:
        for d in line.directives:
            if d.span is not None:
                text = " ".join(d.span.text.split()).removeprefix(".")
                lines.setdefault((line.stage.name, text), d.span.line)
    return lines


def made_by(text: str, lines: dict[tuple[str, str], int]) -> int | None:
    """The schedule line that a comment such as `// acc.update.unroll(k, 2)` names."""
    comment = re.fullmatch(
        r"\s*// ([A-Za-z_]\w*)(?:\.update(?:\(\d+\))?|\.in\(\w+\))?\.(\w+\(.*)", text
    )
    return None if comment is None else lines.get((comment[1], comment[2]))


def _numbered(text: str) -> list[tuple[int, str]]:
    return list(enumerate(text.rstrip("\n").split("\n"), 1))


def _line(text: str, origin: int | None, number: int | None) -> str:
    shown = escape(printable(text))
    if text.lstrip().startswith(("//", "/*", "#")):
        shown = f'<span class="comment">{shown}</span>'
    label = "" if number is None else f'<span class="number">{number}</span>'
    mark = "" if origin is None else f' data-from="{origin}"'
    return f'<span class="line{"" if origin is None else " from"}"{mark}>{label}{shown}</span>'
