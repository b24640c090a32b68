"""The maps of this folder reach every expression, and what is spelled parses to the same tree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from spelled import expr
from tree_maps import definitions, mapped, name, parts, substituted

from hbc.frontend.text import ast
from hbc.frontend.text.parse import parse
from hbc.ir.ground.source import Source

VALUES = (
    "x", "-x + 2 * x", "f(x, 1.5)", "A[x, y]", "clamp_edge(A)[x, y]", "g[x - 1][y]",
    "let t = x + 1 in t * x", "sum(k in x .. N: A[x, k] where k < x)", "max(k: A[k, x])",
    "not x and x < 2", "1 + (let t = x in t)",
)  # fmt: skip


def value_of(text: str) -> ast.Expr:
    (found,) = definitions(parse(Source("test.hb", f"kernel t\nO[x] = {text}\n")))
    return found.value


@pytest.mark.parametrize("text", VALUES)
def test_what_is_spelled_is_the_same_tree(text: str) -> None:
    e = value_of(text)
    assert value_of(expr(e)) == e


@pytest.mark.parametrize("text", VALUES)
def test_every_name_is_reached(text: str) -> None:
    e = value_of(text)
    assert "x" in {n.text for n in parts(e) if isinstance(n, ast.Name)}
    new = substituted(e, {"x": name("z")})
    assert value_of(text.replace("x", "z").replace("maz", "max")) == new
    assert mapped(e, lambda n: n) is e


def test_a_function_written_out_is_its_body() -> None:
    body = value_of("x + 1")
    e = replace(body, a=ast.Inlined("f", body, body.span))
    assert value_of(expr(e)) == replace(body, a=body)
    assert "z" in expr(substituted(e, {"x": name("z")}))
