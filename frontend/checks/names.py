"""Collects the declarations of a file: duplicates, reserved words, and what a new name may be."""

from __future__ import annotations

import re
from pathlib import PurePath

from hbc.frontend.program.scope import Declared, Scope
from hbc.frontend.text import ast
from hbc.frontend.text.vocabulary import CONSTANTS, FUNCTIONS
from hbc.ir.ground.diag import Note
from hbc.ir.ground.source import Span
from hbc.ir.lang.types import DTYPES

# Sizes, arrays and the kernel are named in the generated C and its header, which C++ may include.
LONGEST_NAME = 100  # characters of a kernel's: with what is added, the name of a file
C_WORDS = frozenset([
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
    "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
    "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch",
    "typedef", "union", "unsigned", "void", "volatile", "while", "alignas", "alignof", "asm",
    "bool", "catch", "class", "constexpr", "delete", "explicit", "export", "friend",
    "mutable", "namespace", "new", "noexcept", "nullptr", "operator", "private", "protected",
    "public", "static_assert", "template", "this", "thread_local", "throw", "try", "typeid",
    "typename", "using", "virtual", "main", "malloc", "free", "memcpy", "memset", "abort",
    "exit", "printf",
])  # fmt: skip
C_FUNCTIONS = frozenset([
    "exp", "exp2", "log", "sqrt", "sin", "cos", "tanh", "floor", "ceil", "round", "abs", "fmin",
    "fmax", "pow",
])  # fmt: skip


def declare(scope: Scope, name: ast.Ident, what: str, in_c: bool = False) -> bool:
    """Makes the name known. False, with a report, when it cannot have this meaning; `in_c` for
    names that the generated header shows."""
    text = name.text
    previous = scope.declared.get(text)
    if previous is not None:
        note = Note("the previous declaration", previous.span)
        scope.report(f"`{text}` is already {previous.what}", name.span, None, note)
        return False
    if text in DTYPES or text in FUNCTIONS or text in CONSTANTS:
        kind = "a type" if text in DTYPES else "a function" if text in FUNCTIONS else "a constant"
        scope.report(f"`{text}` is {kind} of the language", name.span, "choose another name")
        scope.broken.add(text)
        return False
    if in_c and text in C_WORDS:
        scope.report(
            f"`{text}` is a word of C, and {what} is named in the generated header", name.span,
            f"choose another name, such as `{text}_` or `my_{text}`",
        )  # fmt: skip
        scope.broken.add(text)
    scope.declared[text] = Declared(what, name.span)
    return True


def names_of_strides(file: ast.File, scope: Scope) -> None:
    """Refuses sizes and variables that are named as the strides of an array (`ir.kernel`); another
    array may be."""
    arrays = {*scope.inputs, *scope.outputs}
    for match in re.finditer(
        r"(?<![\w.])([A-Za-z_]\w*)_stride\d+\b", _without_comments(file.source.text)
    ):
        array = match[1]
        if array in arrays and match[0] not in arrays:
            scope.report(
                f"`{match[0]}` is the name of a stride of `{array}` in the generated code",
                Span(file.source, *match.span()), f"choose another name, such as `{match[0]}_`",
                Note(f"`{array}` is declared here", scope.declared[array].span),
            )  # fmt: skip
            return


def _without_comments(text: str) -> str:
    """The text with blanks for comments, every other character at its place."""
    return re.sub(r"#[^\n]*", lambda comment: " " * len(comment[0]), text)


def kernel_name(file: ast.File, scope: Scope) -> str:
    """The declared name, or the stem of the file's name made an identifier."""
    declared = [s for s in file.statements if isinstance(s, ast.Kernel)]
    for second in declared[1:]:
        note = Note("the first one", declared[0].span)
        scope.report("a file has one kernel, and is named once", second.span,
                     "several kernels have braces each: `kernel a { ... }`", note)  # fmt: skip
    if not declared:
        return name_of_file(file.source.name)
    name = declared[0].name
    if name.text in C_WORDS | C_FUNCTIONS:
        scope.report(
            f"`{name.text}` is a word of C, and cannot name a function in it", name.span,
            f"choose another name, such as `{name.text}_kernel`",
        )  # fmt: skip
    if len(name.text) > LONGEST_NAME:
        scope.report(
            f"the kernel's name has {len(name.text)} characters: at most {LONGEST_NAME}, as files and "
            "functions are named by it", name.span,
        )  # fmt: skip
    return name.text


def name_of_file(given: str) -> str:
    """The stem of a file's name, made an identifier that C functions can have."""
    stem = "kernel" if given.startswith("<") else PurePath(given).stem  # `<stdin>` names no file
    stem = re.sub(r"\W", "_", stem, flags=re.ASCII) or "kernel"
    stem = stem if stem[0].isalpha() or stem[0] == "_" else f"kernel_{stem}"
    stem = stem[:LONGEST_NAME]
    return f"{stem}_kernel" if stem in C_WORDS | C_FUNCTIONS else stem
