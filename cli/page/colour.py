"""Lines of code as HTML, in colours: pygments' lexers, and one for hbc's own texts."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from hbc.cli.show.words import words
from hbc.ir.ground.printable import printable

if TYPE_CHECKING:
    from pygments.lexer import Lexer

LIGHT, DARK = "friendly", "github-dark"
# Words of loop nests and of the IR beside those of the language.
STRUCTURE = (
    "kernel", "compute", "store", "parallel", "vectorized", "unrolled", "blocks", "threads", "lanes",
    "for", "from", "count", "let", "in", "if", "else", "otherwise", "select", "allocate", "where", "inlined",
    "constant", "while", "and", "or", "not",
)  # fmt: skip


def coloured(text: str, language: str) -> list[Markup]:
    """The lines of a text in `hb`, `c`, `cuda` or `asm`, escaped."""
    from pygments.token import STANDARD_TYPES

    lines: list[list[str]] = [[]]
    for kind, value in _lexer(language).get_tokens(printable(text)):
        name = next(STANDARD_TYPES[k] for k in reversed(kind.split()) if k in STANDARD_TYPES)
        first, *rest = value.split("\n")
        for n, part in enumerate((first, *rest)):
            if n:
                lines.append([])
            if part:
                plain = str(escape(part))
                lines[-1].append(f'<span class="{name}">{plain}</span>' if name else plain)
    return [Markup("".join(parts)) for parts in lines[: len(text.rstrip("\n").split("\n"))]]


def styles() -> Markup:
    """The rules for light and dark screens."""
    from pygments.formatters import HtmlFormatter

    def rules(style: str) -> str:
        formatter: Any = HtmlFormatter(style=style, nobackground=True)
        made: str = formatter.get_style_defs("code")
        return "\n".join(line for line in made.splitlines() if line.startswith("code ."))

    return Markup(f"{rules(LIGHT)}\n@media (prefers-color-scheme: dark) {{\n{rules(DARK)}\n}}")


@cache
def _lexer(language: str) -> Lexer:
    from pygments.lexers import get_lexer_by_name

    options: dict[str, Any] = {"stripnl": False, "ensurenl": False}
    if language == "hb":
        return _hb()(**options)
    return get_lexer_by_name({"asm": "gas"}.get(language, language), **options)


@cache
def _hb() -> type[Lexer]:
    """The language itself, loop nests and the IR, by the words that editors know."""
    from pygments import lexer
    from pygments.lexer import RegexLexer
    from pygments.lexer import words as any_of
    from pygments.token import Comment, Keyword, Name, Number, Operator, String, Text

    def of(*kinds: str) -> tuple[str, ...]:
        return tuple(w.name for w in words().values() if w.kind in kinds)

    groups: Any = lexer.bygroups
    rules = [
        (r"#.*", Comment),
        (r'"[^"\n]*"?', String),
        (r"(\.)([a-z_]\w*)(?=\()", groups(Operator, Name.Decorator)),
        (any_of((*of("keyword"), *STRUCTURE), r"\b", r"\b"), Keyword),
        (any_of(of("type"), r"\b", r"\b"), Keyword.Type),
        (any_of(of("function"), r"\b", r"\b(?=\s*\()"), Name.Builtin),
        (r"\b(0x[0-9A-Fa-f]+|[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?)", Number),
        (r"[-+*/%&|^~<>=!:]+", Operator),
        (r"[A-Za-z_]\w*", Name),
        (r"\s+", Text),
        (r".", Text),
    ]
    return type("HbLexer", (RegexLexer,), {"name": "hbc", "tokens": {"root": rules}})
