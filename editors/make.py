"""Writes the files of editors that list the words of the languages, from hbc's own tables:

    python editors/make.py

The parsers of tree-sitter/ are written by `tree-sitter generate` from the grammar.js beside them.
tests/cli/editor/test_files.py compares them with what this writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path

from hbc.cli.show.words import words

HERE = Path(__file__).parent
GRAMMARS = HERE.parent / "frontend"
NUMBER = r"\b(0x[0-9A-Fa-f]+|[0-9][0-9_]*(\.[0-9]+)?([eE][+-]?[0-9]+)?)\b"


# The version of the language, on the first line; a name elsewhere.
VERSION = r"^\s*hbc(?=[ \t]+\d)"


def keywords(grammar: str) -> list[str]:
    """The words of a Lark grammar that are written as they are."""
    text = (GRAMMARS / grammar).read_text(encoding="utf-8")
    return sorted(set(re.findall(r'"([a-z_]+)"', text)))


def contextual(grammar: str, functions: list[str]) -> dict[str, str]:
    """The other words of a grammar, which are names elsewhere: those of terminals that look ahead, with what
    they look for; a call of a function is none. That of the version has a rule of its own."""
    text = (GRAMMARS / grammar).read_text(encoding="utf-8")
    found = re.findall(r"^[A-Z_]+(?:\.\d+)?: /([a-z]+)(?:\\b)?(\(\?[=!].*\))/$", text, re.MULTILINE)
    known = keywords(grammar)
    return {
        word: (r"(?!\s*\()" if word in functions else "") + ahead
        for word, ahead in found
        if word not in known and not re.match(VERSION, f"{word} 1")
    }


def of(*kinds: str) -> list[str]:
    return sorted(w.name for w in words().values() if w.kind in kinds)


def textmate(name: str, scope: str, suffix: str, rules: Mapping[str, str]) -> str:
    """A TextMate grammar: comments, strings, and a rule for each scope."""
    patterns = [
        {"name": f"comment.line.number-sign.{suffix}", "match": "#.*$"},
        {"name": f"string.quoted.double.{suffix}", "begin": '"', "end": '"|$'},
        *({"name": f"{scope}.{suffix}", "match": match} for scope, match in rules.items()),
    ]
    grammar = {"name": name, "scopeName": scope, "fileTypes": [suffix], "patterns": patterns}
    return json.dumps(grammar, indent=2) + "\n"


def in_context(plain: list[str], context: Mapping[str, str]) -> str:
    """Any of the words, some of which depend on what follows."""
    return "|".join([choice(plain), *(rf"\b{word}\b{ahead}" for word, ahead in context.items())])


def choice(listed: list[str], before: str = r"\b") -> str:
    return f"{before}({'|'.join(listed)})\\b"


def files() -> dict[Path, str]:
    """By path below this folder."""
    kernel, sketch = keywords("text/hb.lark"), keywords("sketch/sf.lark")
    described = keywords("isa/isa.lark")
    directives, functions, types = of("directive"), of("function"), of("type")
    context = contextual("text/hb.lark", functions)
    return {
        Path("vscode/syntaxes/hb.tmLanguage.json"): textmate(
            "hbc kernel", "source.hb", "hb",
            {
                "entity.name.function.directive": choice([*directives, "update", "in"], r"(?<=\.)"),
                "keyword.other.version": VERSION,
                "keyword.control": in_context(kernel, context),
                "keyword.operator.update": r"\b(min|max)=(?!=)",  # before the functions
                "storage.type": choice(types),
                "support.function": in_context(
                    [name for name in functions if name not in context],
                    {name: r"(?=\s*\()" for name in functions if name in context},
                ),
                "constant.numeric": NUMBER,
                "keyword.operator": r"(<<|>>|[-+*/%&|^])=|==|!=|<=|>=|\.\.|\*\*|[-+*/%&|^~<>=]",
            },
        ),
        Path("vscode/syntaxes/sf.tmLanguage.json"): textmate(
            "hbc sketch", "source.sf", "sf",
            {
                "entity.name.function.hole": r"\?\w+",
                "keyword.other.version": VERSION,
                "keyword.control": choice(sketch),
                "constant.numeric": NUMBER,
                "keyword.operator": r"->|==|!=|<=|>=|<<|>>|\.\.\.?|[-+*/%&|^~<>=\\]",
            },
        ),
        Path("tree-sitter/hbc/queries/highlights.scm"): queries(
            KERNEL_SHAPES, [*kernel, *context, *described],
            {"@function.builtin": functions, "@type.builtin": types}
        ),
        Path("tree-sitter/hbc_sketch/queries/highlights.scm"): queries(SKETCH_SHAPES, sketch, {}),
        Path("vim/syntax/hbc.vim"): vim(kernel, context, directives, functions, types),
        Path("vim/syntax/hbc_sketch.vim"): vim_of_sketches(sketch),
        Path("emacs/hbc-mode.el"): emacs(kernel, context, directives, functions, types, sketch),
    }  # fmt: skip


# What the nodes of the tree-sitter grammars are, by the names that Neovim and Helix have colours for.
SHARED_SHAPES = """\
(comment) @comment
(string) @string
(number) @number
(version) @keyword.directive
["(" ")" "[" "]" "{" "}"] @punctuation.bracket
["," ";" ":"] @punctuation.delimiter
"""
KERNEL_SHAPES = """\
(identifier) @variable
(boolean) @boolean
(type (identifier) @type)
(call function: (identifier) @function.call)
(edge_access function: (identifier) @function.call)
(reduction function: (identifier) @function.call)
(function name: (identifier) @function)
(parameters (identifier) @variable.parameter)
(names (identifier) @variable.parameter)
(sizes (identifier) @constant)
(param name: (identifier) @constant)
(instruction name: (identifier) @function)
(kernel name: (identifier) @function)
(schedule name: (identifier) @label)
(targets (identifier) @constant.builtin)
(directive) @function.method
(directive [(identifier) "in" "bound"] @function.method)
(option name: (identifier) @property)
(property name: (identifier) @property)
(setting name: (identifier) @property)
(binary operator: _ @operator)
(definition operator: _ @operator)
["=" ".."] @operator
"""
SKETCH_SHAPES = """\
(identifier) @variable
(call function: (identifier) @function.call)
(hole "?" @function.macro (identifier) @function.macro)
(set name: (identifier) @function)
(define name: (identifier) @variable)
(param name: (identifier) @constant)
(option name: (identifier) @property)
(blank) @constant.builtin
(operation) @operator
(binary operator: _ @operator)
["=" "==" ".." "->" "|" "\\\\"] @operator
"""


def queries(shapes: str, words: list[str], builtin: Mapping[str, list[str]]) -> str:
    """Queries for colours, the more special ones last."""
    quoted = " ".join(f'"{word}"' for word in words if word not in ("true", "false"))
    text = f"; Written by editors/make.py.\n{SHARED_SHAPES}[{quoted}] @keyword\n{shapes}"
    for name, listed in builtin.items():
        names = " ".join(f'"{n}"' for n in listed)
        text += f"((identifier) {name}\n  (#any-of? {name} {names}))\n"
    return text


def vim(
    kernel: list[str], context: Mapping[str, str], directives: list[str], functions: list[str],
    types: list[str],
) -> str:  # fmt: skip
    either = r"\|".join(directives)
    # Keywords go before matches: what is a function or a word by what follows is matched.
    called = [name for name in functions if name in context]
    functions = [name for name in functions if name not in context]
    matches = [rf'syntax match hbcFunction "\v<{name}>(\s*\()@="' for name in called]
    matches += [
        rf'syntax match hbcStatement "\v<{word}>{in_vim(seen)}"' for word, seen in context.items()
    ]
    matched = "\n".join(matches)
    own = f"""\
syntax keyword hbcStatement {" ".join(kernel)}
syntax keyword hbcFunction {" ".join(functions)}
syntax keyword hbcType {" ".join(types)}
syntax match hbcDirective "\\.\\({either}\\)\\>"
syntax match hbcStatement "^\\s*hbc\\ze\\s\\+\\d"
{matched}
"""
    return vim_syntax("kernels", "hbc", own)


def vim_of_sketches(sketch: list[str]) -> str:
    own = f"""\
syntax keyword hbcStatement {" ".join(sketch)}
syntax match hbcStatement "^\\s*hbc\\ze\\s\\+\\d"
syntax match hbcDirective "?\\w\\+"
"""
    return vim_syntax("sketches", "hbc_sketch", own)


def vim_syntax(what: str, name: str, own: str) -> str:
    """A file of Vim's: what a language has of its own, numbers, comments, strings and the colours of all."""
    return f"""\
" Vim syntax of hbc {what}, written by editors/make.py.
if exists("b:current_syntax")
  finish
endif
{own}\
syntax match hbcNumber "\\<\\d\\+\\(\\.\\d\\+\\)\\?\\([eE][+-]\\?\\d\\+\\)\\?\\>"
syntax match hbcComment "#.*$"
syntax region hbcString start=+"+ end=+"\\|$+
highlight default link hbcStatement Statement
highlight default link hbcFunction Function
highlight default link hbcType Type
highlight default link hbcDirective Identifier
highlight default link hbcNumber Number
highlight default link hbcComment Comment
highlight default link hbcString String
let b:current_syntax = "{name}"
"""


def in_vim(ahead: str) -> str:
    """Each `(?=..)` or `(?!..)` as Vim's very magic patterns have it."""
    return re.sub(r"\(\?([=!])((?:\\.|\[[^\]]*\]|[^()\\])*)\)", r"(\2)@\1", ahead)


def emacs(
    kernel: list[str], context: Mapping[str, str], directives: list[str], functions: list[str],
    types: list[str], sketch: list[str],
) -> str:  # fmt: skip
    """Its patterns do not look ahead: words that depend on what follows have their colour wherever they are
    not called."""

    def listed(names: list[str]) -> str:
        return " ".join(f'"{n}"' for n in names)

    version = r"""("^[ \t]*\\(hbc\\)[ \t]+[0-9]" 1 font-lock-keyword-face)"""
    return f"""\
;;; hbc-mode.el --- Kernels and sketches of hbc  -*- lexical-binding: t -*-
;; Written by editors/make.py.

;;; Commentary:
;; Colours for .hb and .sf files; with eglot, everything that `hbc lsp' offers for kernels.

;;; Code:

(defconst hbc-font-lock
  `((,(concat "\\\\." (regexp-opt '({listed(directives)}) 'symbols)) . font-lock-builtin-face)
    (,(concat (regexp-opt '({listed([n for n in functions if n in context])}) 'symbols) "[ \\t]*(")
     1 font-lock-function-name-face)
    (,(regexp-opt '({listed([*kernel, *context])}) 'symbols) . font-lock-keyword-face)
    {version}
    (,(regexp-opt '({listed(types)}) 'symbols) . font-lock-type-face)
    (,(regexp-opt '({listed(functions)}) 'symbols) . font-lock-function-name-face)))

(defconst hbc-sketch-font-lock
  `(("\\\\?\\\\sw+" . font-lock-builtin-face)
    {version}
    (,(regexp-opt '({listed(sketch)}) 'symbols) . font-lock-keyword-face)))

(defun hbc--begin (colours)
  "Comments as both languages have them, and COLOURS."
  (setq-local comment-start "# ")
  (setq-local comment-start-skip "#+ *")
  (modify-syntax-entry ?# "<")
  (modify-syntax-entry ?\\n ">")
  (setq-local font-lock-defaults (list colours)))

;;;###autoload
(define-derived-mode hbc-mode prog-mode "hbc"
  "Major mode for kernels of hbc."
  (hbc--begin hbc-font-lock))

;;;###autoload
(define-derived-mode hbc-sketch-mode prog-mode "hbc sketch"
  "Major mode for sketches of hbc."
  (hbc--begin hbc-sketch-font-lock))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\\\.hb\\\\'" . hbc-mode))
;;;###autoload
(add-to-list 'auto-mode-alist '("\\\\.sf\\\\'" . hbc-sketch-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs '(hbc-mode "hbc" "lsp")))

(provide 'hbc-mode)
;;; hbc-mode.el ends here
"""


def main() -> None:
    for path, text in files().items():
        (HERE / path).parent.mkdir(parents=True, exist_ok=True)
        (HERE / path).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
