"""Pins that the grammars in editors/tree-sitter take what hbc takes, every kernel and sketch here, and that
their parsers are of them."""

from __future__ import annotations

import ctypes
import functools
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from hbc.frontend.text.grammar import load_parser
from hbc.ir.ground.diag import HbcError

tree_sitter = pytest.importorskip("tree_sitter", reason="the parsers of editors need tree-sitter")

ROOT = Path(__file__).parents[3]
GRAMMARS = ROOT / "editors/tree-sitter"
# Of each grammar: the files, what hbc parses them by, and the language's name in the parser's C.
LANGUAGES = {"hbc": ("*.hb", ("hb", "isa")), "hbc_sketch": ("*.sf", ("sf",))}
# Words of hbc are no names there; the grammar for editors takes them where no statement can begin.
TAKES_MORE = {"tests/errors/syntax_keyword_as_name.hb"}
FENCED = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# What the CLI of tree-sitter gives a grammar.js to work with, as far as ours go.
DSL = """
const rule = (r) => typeof r === "string" ? { type: "STRING", value: r }
  : r instanceof RegExp ? { type: "PATTERN", value: r.source } : r;
const several = (type) => (...rs) => ({ type, members: rs.map(rule) });
const one = (type) => (r) => ({ type, content: rule(r) });
const bound = (type) => (n, r) =>
  r === undefined ? { type, value: 0, content: rule(n) } : { type, value: n, content: rule(r) };
globalThis.seq = several("SEQ");
globalThis.choice = several("CHOICE");
globalThis.optional = (r) => choice(r, { type: "BLANK" });
globalThis.repeat = one("REPEAT");
globalThis.repeat1 = one("REPEAT1");
globalThis.token = one("TOKEN");
token.immediate = one("IMMEDIATE_TOKEN");
globalThis.prec = bound("PREC");
prec.left = bound("PREC_LEFT");
prec.right = bound("PREC_RIGHT");
globalThis.field = (name, r) => ({ type: "FIELD", name, content: rule(r) });
globalThis.alias = (r, as) => ({ type: "ALIAS", content: rule(r), named: true, value: as.name });
const $ = new Proxy({}, { get: (_, name) => ({ type: "SYMBOL", name }) });
globalThis.grammar = (g) => ({
  name: g.name, word: "identifier", rules: Object.fromEntries(
    Object.entries(g.rules).map(([name, made]) => [name, rule(made($))])),
});
console.log(JSON.stringify(require(process.argv[1])));
"""


def files(pattern: str) -> list[Path]:
    """Those of samples, tests and hbc itself; not what builds leave."""
    rooms = ("samples", "tests", "cli", "codegen", "frontend")
    return sorted(p for room in rooms for p in (ROOT / room).rglob(pattern))


@functools.cache
def language(name: str, folder: Path) -> object:
    """The compiled parser."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        pytest.skip("there is no C compiler")
    source, library = GRAMMARS / name / "src", folder / f"{name}.so"
    subprocess.run(
        [compiler, "-shared", "-fPIC", f"-I{source}", str(source / "parser.c"), "-o", str(library)],
        check=True,
    )
    made = getattr(ctypes.CDLL(str(library)), f"tree_sitter_{name}")
    made.restype = ctypes.c_void_p
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = (
        ctypes.py_object,
        [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p],
    )
    return tree_sitter.Language(capsule(made(), b"tree_sitter.Language", None))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("parsers")


def accepts(text: str, languages: tuple[str, ...]) -> bool:
    """Whether the syntax is one of hbc's."""
    from lark.exceptions import UnexpectedInput

    for each in languages:
        try:
            load_parser(each).parse(text)
            return True
        except (UnexpectedInput, HbcError):
            continue
    return False


@pytest.mark.parametrize("name", LANGUAGES)
def test_what_hbc_parses_has_no_errors_and_what_it_refuses_has(name: str, built: Path) -> None:
    pattern, languages = LANGUAGES[name]
    parser = tree_sitter.Parser(language(name, built))
    taken = refused = 0
    wrong = []
    for path in files(pattern):
        held = path.read_bytes()
        try:
            right = accepts(held.decode(), languages)
        except UnicodeDecodeError:
            continue
        if parser.parse(held).root_node.has_error == right:
            wrong.append(path.relative_to(ROOT).as_posix())
        taken, refused = taken + right, refused + (not right)
    assert set(wrong) <= TAKES_MORE
    assert taken > 80 and refused > 5


def test_kernels_in_the_documentation_have_no_errors(built: Path) -> None:
    """What stands between fences there and is syntax of hbc's."""
    parser = tree_sitter.Parser(language("hbc", built))
    pages = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
    found = [(p, m[2]) for p in pages for m in FENCED.finditer(p.read_text())]
    kernels = [(p.name, text) for p, text in found if accepts(text, ("hb",))]
    wrong = [one for one in kernels if parser.parse(one[1].encode()).root_node.has_error]
    assert not wrong
    assert len(kernels) > 40


def test_a_tree_has_the_parts_of_a_kernel(built: Path) -> None:
    text = b"size N\ninput A: f32[N]\noutput B: f32[N]\nB[i] = A[i] * 2 + 1\nschedule s { B.unroll(i) }\n"
    root = tree_sitter.Parser(language("hbc", built)).parse(text).root_node
    kinds = [child.type for child in root.children]
    assert kinds == ["sizes", "input", "output", "definition", "schedule"]
    value = root.children[3].child_by_field_name("value")
    assert value.child_by_field_name("operator").text == b"+"  # the product binds tighter
    assert value.child_by_field_name("left").text == b"A[i] * 2"


@pytest.mark.parametrize(
    ("name", "text", "colours"),
    [
        (
            "hbc",
            "hbc 1\nsize N\noutput B: f32[N]\nB[i] = exp(2.) # e\nschedule s for c { B.vectorize(i) }\n",
            {
                "keyword": "size", "keyword.directive": "hbc 1", "type.builtin": "f32", "number": "2.",
                "function.builtin": "exp", "comment": "# e", "function.method": "vectorize", "label": "s",
            },
        ),
        (
            "hbc",
            "size N\ninput A: f32[N]\ninput F: u64[4] constant\noutput B: f32[N] aliases A\n",
            {"keyword": "constant"},
        ),
        ("hbc", "size N\ninput A: f32[N]\noutput B: f32[N] aliases A\n", {"keyword": "aliases"}),
        (
            "hbc_sketch",
            "x: [4]\ny: [4] = ?shuffle(x)\ngoal y == [i in 4] x[3 - i]\n",
            {"keyword": "goal", "function.macro": "shuffle", "number": "4", "operator": "=="},
        ),
    ],
)  # fmt: skip
def test_words_have_colours(name: str, text: str, colours: dict[str, str], built: Path) -> None:
    spoken = language(name, built)
    query = tree_sitter.Query(spoken, (GRAMMARS / name / "queries/highlights.scm").read_text())
    root = tree_sitter.Parser(spoken).parse(text.encode()).root_node
    found = tree_sitter.QueryCursor(query).captures(root)
    for colour, word in colours.items():
        assert word in [node.text.decode() for node in found.get(colour, [])], colour


@pytest.mark.parametrize("name", LANGUAGES)
def test_parsers_are_of_their_grammars(name: str) -> None:
    """Write them anew with `tree-sitter generate` in the grammar's folder."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to read grammar.js")
    folder = GRAMMARS / name
    done = subprocess.run(
        [node, "-e", DSL, str(folder / "grammar.js")], capture_output=True, text=True, check=True
    )
    written, kept = json.loads(done.stdout), json.loads((folder / "src/grammar.json").read_text())
    assert written["rules"] == kept["rules"]
    parser = (folder / "src/parser.c").read_text()
    for rule in kept["rules"]:
        assert re.search(rf"\bsym_{rule}\b", parser), f"{rule} is not in parser.c"


def test_the_grammars_are_named_where_editors_look() -> None:
    listed = json.loads((GRAMMARS / "tree-sitter.json").read_text())["grammars"]
    assert [g["name"] for g in listed] == list(LANGUAGES)
    for grammar in listed:
        assert (GRAMMARS / grammar["path"] / "src/parser.c").is_file()
        assert all((GRAMMARS / path).is_file() for path in grammar["highlights"])
