"""Pins that what editors know of the words is what hbc's tables say, and that the grammars are grammars."""

from __future__ import annotations

import json
import re
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from hbc.frontend.text.grammar import load_parser

EDITORS = Path(__file__).parents[3] / "editors"
FILES: dict[Path, str] = runpy.run_path(str(EDITORS / "make.py"))["files"]()


@pytest.mark.parametrize("path", FILES, ids=str)
def test_files_are_as_written(path: Path) -> None:
    assert (EDITORS / path).read_text() == FILES[path], "write it anew: python editors/make.py"


@pytest.mark.parametrize("name", ["hb", "sf"])
def test_grammars_match_what_they_should(name: str) -> None:
    grammar = json.loads((EDITORS / f"vscode/syntaxes/{name}.tmLanguage.json").read_text())
    rules = {p["name"]: re.compile(p["match"]) for p in grammar["patterns"] if "match" in p}
    line = {"hb": "acc.vectorize(j, 16) # f32", "sf": "goal r == ?shuffle(x) # 12"}[name]
    found = {rule.split(".")[0]: m[0] for rule, r in rules.items() if (m := r.search(line))}
    assert found["comment"] == line[line.index("#") :]
    assert found["entity"] in ("vectorize", "?shuffle")


OPERATORS = {
    "BINARY", "MINUS", "TILDE", "EQUAL", "EQUALS", "UPDATE", "DOTS", "ELLIPSIS", "ARROW", "BAR", "LAMBDA",
}  # fmt: skip
PLAIN = {"", "entity", "storage", "support"}  # names of directives, holes, types and functions too


def coloured(grammar: dict[str, Any], line: str) -> list[str]:
    """The name of the rule for each character, as TextMate finds it: of what matches first the first rule."""
    rules = [
        (p["name"], re.compile(p.get("match") or f"{p['begin']}.*?(?:{p['end']})"))
        for p in grammar["patterns"]
    ]
    names, at = [""] * len(line), 0
    while found := [
        (m.start(), n, m.end()) for n, (_, r) in enumerate(rules) if (m := r.search(line, at))
    ]:
        start, rule, at = min(found)
        names[start:at] = [rules[rule][0]] * (at - start)
    return names


@pytest.mark.parametrize("name", ["hb", "sf"])
def test_samples_are_coloured_as_they_are_read(name: str) -> None:
    """Against the tokens of the parser: no word of a comment is a keyword, no operator is left out."""
    grammar = json.loads((EDITORS / f"vscode/syntaxes/{name}.tmLanguage.json").read_text())
    for path in sorted((EDITORS.parent / "samples").rglob(f"*.{name}")):
        text = path.read_text(encoding="utf-8")
        names = [n for line in text.split("\n") for n in (*coloured(grammar, line), "")]
        for token in load_parser(name).parse_interactive(text).iter_parse():
            assert token.start_pos is not None
            of_token = names[token.start_pos : token.end_pos]
            kinds = {n.split(".")[0] for n in of_token}
            where = path.name, token.line, str(token), of_token
            if token.type in ("NUMBER", "STRING"):
                assert kinds == {"constant" if token.type == "NUMBER" else "string"}, where
            elif token.type in OPERATORS:
                assert {n.rpartition(".")[0][:16] for n in of_token} == {"keyword.operator"}, where
            elif token.type == "NAME":
                assert kinds <= PLAIN or str(token) == "each", where
            elif token.isalpha() and token.type.lower() == str(token):
                assert kinds <= {"keyword", "entity"}, where


# Of the first word with a hash before it: whether it is a keyword there, a name or a function.
IN_CONTEXT = [
    ("input F: f32[K] #constant", "Statement"),
    ("input F: f32[K] #constant, u8[K]", "Statement"),
    ("output Y: f32[H] #aliases X", "Statement"),
    ("#constant[i] = 2", ""),
    ("#aliases = 3", ""),
    ("example { A = #constant(2) }", "Function"),
    ("#aliased[i] = 2", ""),
]


@pytest.mark.parametrize(("line", "kind"), IN_CONTEXT)
def test_words_that_are_names_elsewhere(line: str, kind: str) -> None:
    """As the grammar has them: `frontend/text/hb.lark` looks at what follows."""
    grammar = json.loads((EDITORS / "vscode/syntaxes/hb.tmLanguage.json").read_text())
    at, line = line.index("#"), line.replace("#", "")
    found = ""
    for rule in grammar["patterns"]:  # of those that match at one place, the first
        if "match" in rule and any(m.start() == at for m in re.finditer(rule["match"], line)):
            found = {"keyword": "Statement", "support": "Function"}[rule["name"].split(".")[0]]
            break
    assert found == kind


def test_words_that_are_names_elsewhere_in_vim(tmp_path: Path) -> None:
    vim = shutil.which("vim")
    if vim is None:
        pytest.skip("no vim: its colours are compared where it is installed")
    said = subprocess.run([vim, "--version"], capture_output=True, text=True, check=False).stdout
    if "+syntax" not in said:
        pytest.skip("this vim was built without +syntax")
    text, script = tmp_path / "a.hb", tmp_path / "ask.vim"
    text.write_text("\n".join(line.replace("#", "") for line, _ in IN_CONTEXT) + "\n")
    asked = [f"{n}, {line.index('#') + 1}" for n, (line, _) in enumerate(IN_CONTEXT, 1)]
    shown = [f"call add(said, synIDattr(synID({at}, 0), 'name'))" for at in asked]
    colours = f"source {EDITORS / 'vim/syntax/hbc.vim'}"
    own = ["syntax on", "syntax clear", "unlet! b:current_syntax", colours, "let said = []"]
    write = f"call writefile(said, '{tmp_path / 'said'}')"
    script.write_text("\n".join([*own, *shown, write, "qall!"]))
    subprocess.run(
        [vim, "-N", "-u", "NONE", "-i", "NONE", "-n", "-es", "-S", str(script), str(text)],
        check=False, timeout=60, stdin=subprocess.DEVNULL, capture_output=True,
    )  # fmt: skip
    found = (tmp_path / "said").read_text().splitlines()
    assert found == [f"hbc{kind}" if kind else "" for _, kind in IN_CONTEXT]


# Of words of a line: the face in which Emacs shows them; "" for names.
FACES = {
    "hb": [
        ("hbc 1", {"hbc": "keyword"}),
        ("input A: f32[N] # or", {"input": "keyword", "A": "", "f32": "type", "or": "comment"}),
        (
            "    C.tile(i, j).unroll(i) # f32",
            {"tile": "builtin", "unroll": "builtin", "f32": "comment"},
        ),
        ("A[i] = max(B[i], hbc)", {"max": "function-name", "hbc": ""}),
        ("tiled[i] = inputs[i] + f32x", {"tiled": "", "inputs": "", "f32x": ""}),
        ("example { A = constant(2) }", {"example": "keyword", "constant": "function-name"}),
    ],
    "sf": [
        ("hbc 1", {"hbc": "keyword"}),
        (
            "set exchange(a: [8]) = x for d in 2",
            {"set": "keyword", "exchange": "", "for": "keyword"},
        ),
        ("s1: [8] = ?exchange(x) # if", {"?exchange": "builtin", "if": "comment"}),
        ("goals = settle", {"goals": "", "settle": ""}),
    ],
}


@pytest.mark.parametrize("ending", FACES)
def test_colours_in_emacs(ending: str, tmp_path: Path) -> None:
    emacs = shutil.which("emacs")
    if emacs is None:
        pytest.skip("no emacs: its colours are compared where it is installed")
    lines = FACES[ending]
    file, mode = tmp_path / f"a.{ending}", tmp_path / "hbc-mode.el"
    file.write_text("\n".join(line for line, _ in lines))
    shutil.copy(EDITORS / "emacs/hbc-mode.el", mode)
    starts = [sum(len(line) + 1 for line, _ in lines[:n]) for n in range(len(lines))]
    wanted = {
        start + 1 + line.index(word): face
        for start, (line, words) in zip(starts, lines, strict=True)
        for word, face in words.items()
    }
    script = f"""(progn
      (setq byte-compile-error-on-warn t)
      (unless (byte-compile-file "{mode}") (kill-emacs 3))
      (load-file "{mode}c") (find-file "{file}") (font-lock-ensure)
      (dolist (at '({" ".join(map(str, wanted))}))
        (princ (format "%s\n" (or (get-text-property at 'face) "")))))"""
    done = subprocess.run(
        [emacs, "-Q", "--batch", "--eval", script], capture_output=True, text=True, timeout=120,
        check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    faces = [f"font-lock-{face}-face" if face else "" for face in wanted.values()]
    assert done.stdout.splitlines() == faces


def test_the_extension_names_its_files() -> None:
    package = json.loads((EDITORS / "vscode/package.json").read_text())
    contributed = package["contributes"]
    named = [g["path"] for g in contributed["grammars"]]
    named += [lang["configuration"] for lang in contributed["languages"]] + [package["main"]]
    for path in named:
        assert (EDITORS / "vscode" / path).is_file()


def test_the_extension_is_packed(tmp_path: Path) -> None:
    """By npm, which reads package.json: what it names is in the package."""
    npm = shutil.which("npm")
    if npm is None:
        pytest.skip("there is no npm")
    done = subprocess.run(
        [npm, "pack", "--json", "--offline", "--ignore-scripts", "--cache", str(tmp_path / "cache"),
         "--pack-destination", str(tmp_path), str(EDITORS / "vscode")],
        capture_output=True, text=True, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    (packed,) = json.loads(done.stdout)
    assert (tmp_path / packed["filename"]).is_file()
    held = {file["path"] for file in packed["files"]}
    on_disk = {
        p.relative_to(EDITORS / "vscode").as_posix() for p in (EDITORS / "vscode").rglob("*")
    }
    assert {"package.json", "extension.js", "syntaxes/hb.tmLanguage.json"} <= held <= on_disk
