"""Slips of hands used to other languages, each with the way it is written here: one row each."""

from __future__ import annotations

import re
from functools import cache

from hbc.frontend.text.openings import CONSTANT
from hbc.ir.ground.diag import Diagnostic
from hbc.ir.ground.record import record
from hbc.ir.ground.source import Source, Span


@record
class Slip:
    """`found` matches at the offset of the error, `before` at the end of the text before it. In the
    message `{}` is what was found, or the group `slip` of what precedes, which is then underlined; in the
    hint names in `<>` are those of groups."""

    found: str
    before: str
    message: str
    hint: str


# What C and Python write: values at several places without parentheses, and functions.
SEVERAL = (
    "several Funcs are defined together in parentheses",
    "write `(m[x], i[x]) = (a, b)`; where a greatest value stands, for example: "
    "`(m[x], i[x]) = select(A[x, r] > m[x], (A[x, r], i32(r)), (m[x], i[x]))`",
)
NO_FUNCTION = (
    "a function begins with `def`",
    "write `def <name>(...) = ...`; a Func is written with brackets, `<name>[i] = ...`, and its variables "
    "run over positions",
)
NO_LOOP = (
    "there are no loops in an algorithm",
    "a definition covers all points of its variables; sum along `reduce k in K`; for a family of Funcs "
    "write `for l in 1 .. J { g[l][x] = ... }`",
)
COMMENT = ("comments begin with `#`", "write `# ...` up to the end of the line")
SUFFIX_F = (
    "a number has no suffix `{}`",
    "it takes the type of what it meets: write `<number>`, or `f32(<number>)` for a type of its own",
)
SUFFIX_U = (
    "a number has no suffix `{}`",
    "it takes the type of what it meets: write `<number>`, or `u32(<number>)` for a type of its own",
)
FACTOR = (
    "`{}` follows a number",
    "a literal has no suffix, it takes the type of what it meets; a product is written `*`",
)
# What follows a number may be read as the name that the next line begins with: the error is then behind it.
NUMBER = (
    r"(?<![\w.])(?P<number>0[xX][0-9a-fA-F]+(?![0-9a-fA-F])|(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)"
)
OF_FLOATS, OF_INTEGERS = r"[fFhH](?:16|32|64)?", r"(?:[uUlL]{1,3}|[iu](?:8|16|32|64))"
NO_IF = (
    "there is no `if`",
    "write `select(condition, a, b)`, or `where condition` after an update",
)
TYPES = (
    r"(?:float|double|half|(?:unsigned |signed )?(?:int|char|short|long)|u?int(?:8|16|32|64)_t|"
    r"[iu](?:8|16|32|64)|b?f16|f32|f64)"
)
CAST = ("a cast is the name of the type", "write `f32(x)`, `i32(x)`, `u8(x)`, ...")
ASSIGNS = r"\s*(?::\s*\w+\s*)?(?:<<|>>|[-+*/%|&^]|min|max)?=(?!=)"
FUNCTION = r"(?:^|\n)[ \t]*(?P<name>[A-Za-z_]\w*)$"

SLIPS = (
    Slip(r"for\b", r"(?:^|\n)[ \t]*schedule\s+(?P<name>\w+)\s+where\b(?P<test>[^{}\n]*?)\s*$",
         "the targets of a schedule stand before its condition",
         "write `schedule <name> for TARGET where<test> { ... }`"),
    # Operators of C and Python
    Slip(r"//", r"", "`//` is no operator and begins no comment",
         "`/` of integers floors; comments begin with `#`"),
    Slip(r"/\*", r"", *COMMENT),
    Slip(r"\*", r"/$", *COMMENT),
    Slip(r"\?", r"", "there is no operator `?`", "write `select(condition, a, b)`"),
    Slip(r"(\+\+|--)", r"", "there is no operator `{}`", "write `f[x] += 1`"),
    Slip(r"(?P<op>\*\*|&&|\|\|)=", r"", "there is no operator `{}`",
         "updates are `= += -= *= /= %= <<= >>= min= max= |= &= ^=`: write `f[x] = f[x] <op> ...`"),
    Slip(r"\+", r"=$", "there is no operator `=+`", "write `+=` to add, or leave the sign out"),
    Slip(r"\+(?=\s*(?:\n|$))", r"\+$", "there is no operator `++`", "write `f[x] += 1`"),
    Slip(r"\+", r"[-+*/%(\[,<>&|^]$", "a sign `+` is not written", "leave it out"),
    Slip(r"=>", r"", "there is no operator `=>`", "write `>=`"),
    Slip(r"=<", r"", "there is no operator `=<`", "write `<=`"),
    Slip(r":=", r"", "there is no operator `:=`", "write `=`"),
    Slip(r"=", r":$", "there is no operator `:=`", "write `=`"),
    Slip(r"->", r"", "there is no operator `->`", "outputs are declared: `output C: f32[M, N]`"),
    Slip(r"<-", r"", "there is no operator `<-`", "write `=`"),
    Slip(r"\.", r"\.\.$", "an interval has two dots", "write `1 .. N`; it ends before `N`"),
    Slip(r"[-+*/%&|^]?=", r"\b(?:select|where|require|and|or|not)\b[^\n;]*$",
         "`=` defines and does not compare", "write `==` to compare"),
    Slip(r"==", r"(?:^|\n)[ \t]*\w+[ \t]*(?:\[[^\]\n]*\])?$",
         "`==` compares and does not define", "write `=`"),
    Slip(r">", rf"(?P<slip>\w*<\s*{TYPES})$", *CAST),
    Slip(r"[\w(]", rf"(?P<slip>\({TYPES}\))$", *CAST),
    Slip(r"(?:char|int|short|long)\b", r"\((?P<slip>unsigned|signed|const)$", *CAST),
    Slip(r"\.(?=\s*[A-Za-z_]\w*\s*\()", r"\b(?P<slip>np|numpy|math|torch|tf|jnp|std|hl|Halide)$",
         "functions stand alone", "write `exp(x)`; many more come with `import \"std/math.hb\"`"),
    Slip(r"\.(?=\s*[A-Za-z_]\w*\s*\()", r"(?:^|\n)[ \t]*(?P<name>[A-Za-z_]\w*)$",
         "how a Func is computed stands in a schedule",
         "write `schedule s for c { <name>.vectorize(x, 8) }` below the algorithm, with your directives"),
    Slip(r"\.(?=\s*[A-Za-z_]\w*\s*\()", r"[\])\w]$", "values have no methods",
         "write the function around the value: `abs(x)`, `max(x, 0)`, `f32(x)`"),
    Slip(r":", r"\[(?:[^\]\n]*,)?$", "there are no slices",
         "name the position: `O[i] = A[i]` covers every `i`; a part is `A[i + start]`"),
    # Definitions of other languages
    Slip(r":", r"(?:^|\n)[ \t]*def\b[^\n]*\)$", "a function is an expression",
         "write `def avg(a, b) = (a + b + 1) / 2`"),
    Slip(r":", r"(?:^|\n)[ \t]*for\b[^\n]*\)$", *NO_LOOP),
    Slip(r"[A-Za-z_]\w*", r"(?:^|\n)[ \t]*import$", "a file is imported by its name in quotes",
         'write `import "std/math.hb"` (also `std/image.hb`, `std/ml.hb`), or the path of a file of yours'),
    Slip(r",(?:[^=\n]*\])?\s*=(?!=)", r"(?:^|\n)[ \t]*\w+[ \t]*\[[^\]\n]*\]$", *SEVERAL),
    Slip(rf"\(\s*(?P<v>\w+)(?P<rest>[^()\n]*)\){ASSIGNS}[^\n]*\[[^\]\n]*\b(?P=v)\b", FUNCTION,
         "a Func is defined with brackets", "write `<name>[<v><rest>] = ...`"),
    Slip(rf"\([^()\n]*\){ASSIGNS}", FUNCTION, *NO_FUNCTION),
    # Numbers and text
    Slip(r"(?:if|else)\b", r"[^\n\s][ \t]*$", *NO_IF),
    Slip(rf"(?<=[\w.]){OF_FLOATS}\b", rf"{NUMBER}$", *SUFFIX_F),
    Slip(r"\S", rf"{NUMBER}(?P<slip>{OF_FLOATS})$", *SUFFIX_F),
    Slip(rf"(?<=[\w.]){OF_INTEGERS}\b", rf"{NUMBER}$", *SUFFIX_U),
    Slip(r"\S", rf"{NUMBER}(?P<slip>{OF_INTEGERS})$", *SUFFIX_U),
    Slip(r"(?<=[\w. \t])[A-Za-z_]\w*", rf"{NUMBER}$", *FACTOR),
    Slip(r"\S", rf"{NUMBER}[ \t]*(?P<slip>[A-Za-z_]\w*)$", *FACTOR),
    Slip(r"'", r"", "text stands in double quotes", 'write `"..."`'),
    Slip(r'"(?![^"\n]*")', r"", "the text does not end on its line", 'close it with `"`'),
    Slip(r"[“”„«»]", r"", "`{}` is a typographic quote", 'write `"`'),
    Slip(r"[×·∙⋅]", r"", "`{}` is not read as a product", "write `*`"),
    Slip(r"÷", r"", "`{}` is not read as a quotient", "write `/`"),
    Slip(r"[−–—]", r"", "`{}` is a dash", "write `-`"),
    Slip(r"≤|≥|≠", r"", "`{}` is not read", "write `<=`, `>=` or `!=`"),
    # Statements of other languages
    Slip(r"for\b|while\b", r"", *NO_LOOP),
    Slip(r"\w+", r"\b(?:if|else)$", *NO_IF),
    Slip(r"\(", r"(?:^|\n)[ \t]*(?P<slip>atomic_?(?:fetch_?)?[aA]dd)$", "`{}` is no statement",
         "write `f[i] += x`; lanes and threads that may meet are asked for in a schedule, by `atomic()`"),
    Slip(r",\s*(?P<next>\w+)\s*=(?!=)", r"\blet\s+(?P<name>\w+)\s*=(?:(?!\bin\b)[^\n;])*$",
         "a `let` names one value", "write `let <name> = ... in let <next> = ... in ...`"),
    Slip(r"let\b", r"", "`let` stands in a value and begins no statement", CONSTANT),
)  # fmt: skip


@cache
def compiled() -> list[tuple[re.Pattern[str], re.Pattern[str], Slip]]:
    """The patterns, made when the first error is found."""
    return [(re.compile(s.found), re.compile(f"(?:{s.before})\\s*\\Z"), s) for s in SLIPS]


def slip_at(source: Source, at: int, before: str) -> Diagnostic | None:
    """The slip made at the offset, if it is a known one; `before` is the text that precedes."""
    for pattern, preceded, slip in compiled():
        match = pattern.match(source.text, at)
        ahead = preceded.search(before) if match else None
        if match and ahead:
            shown, start, end = match[0], at, match.end()
            if ahead.groupdict().get("slip"):
                shown, moved = ahead["slip"], source.text.rindex(before, 0, at)
                start, end = ahead.start("slip") + moved, ahead.end("slip") + moved
            line_end = source.text.find("\n", start) % (len(source.text) + 1)
            span = Span(source, start, max(min(end, line_end), start + 1))
            hint = slip.hint
            for name, text in {**match.groupdict(), **ahead.groupdict()}.items():
                hint = hint.replace(f"<{name}>", text)
            return Diagnostic(slip.message.format(shown), span, hint)
    return None
