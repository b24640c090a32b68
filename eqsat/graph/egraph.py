"""The e-graph: egglog programs in, terms out.

egglog is imported when the first e-graph is made, and only its compiled part: the whole package
takes ten times as long.
"""

from __future__ import annotations

import importlib.util
import re
import sys
import types
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from hbc.ir.ground.diag import InternalError
from hbc.ir.ground.record import record

FOLDER = Path(__file__).with_name("rules")
RULES = ("terms", "facts", "axioms", "application", "masks")
ALWAYS = RULES[:3]
"""What every e-graph has. The others are declared when a statement needs them."""


@record
class Term:
    """A term of the e-graph. Numbers and texts are literals, in `args` as they are."""

    head: str
    args: tuple[Term | int | float | str, ...]

    def __str__(self) -> str:
        return f"({' '.join((self.head, *map(_literal, self.args)))})"


def _literal(x: Term | int | float | str) -> str:
    return f'"{x}"' if isinstance(x, str) else str(x)


class EGraph:
    """An e-graph with the rules of `eqsat/graph/rules` that all statements need, or with other texts by their
    names. `fired` counts the matches of each rule."""

    def __init__(self, rules: Mapping[str, str] | None = None) -> None:
        bindings = _bindings()
        self._failure: type[BaseException] = bindings.EggSmolError
        self._graph: Any = bindings.EGraph()
        self.fired: Counter[str] = Counter()
        self._terms: dict[tuple[object, ...], Term] = {}
        self._declared: set[str] = set()
        if rules is None:
            self.declare(ALWAYS)
        for name, text in (rules or {}).items():
            self.run(text, f"{name}.egg")

    def close(self) -> None:
        """Nothing can be asked any more. The bindings refuse that another thread than the one that made
        a graph drops it, as the garbage collector does whose turn comes there."""
        del self._graph

    def declare(self, names: Iterable[str]) -> None:
        """The rules of these files too. Not within `apart`, where they would be forgotten."""
        for name in names:
            if name not in self._declared:
                self._declared.add(name)
                self.run(rules_text(name), f"{name}.egg")

    @contextmanager
    def apart(self) -> Iterator[None]:
        """What is added within is gone afterwards. The rules take longer to declare than to run."""
        self.run("(push)")
        self.fired.clear()
        self._terms.clear()
        try:
            yield
        finally:
            self.run("(pop)")

    def run(self, program: str, name: str = "statement.egg") -> list[Any]:
        """Runs commands and returns what they answer."""
        try:
            answers: list[Any] = self._graph.run_program(*self._graph.parse_program(program, name))
        except self._failure as e:
            raise InternalError(f"the e-graph refuses {name}: {e}") from e
        for a in answers:
            if hasattr(a, "report"):
                # In a fixed order: the report is a hash table.
                self.fired.update(dict(sorted(a.report.num_matches_per_rule.items())))
        return answers

    def rows(
        self, relation: str, limit: int = 10_000
    ) -> list[tuple[Term | int | float | str, ...]]:
        """The arguments of each row of a relation, terms as their cheapest form."""
        (answer,) = self.run(f"(print-function {relation} {limit})")
        rows = []
        terms_by_number: dict[int, Term | int | float | str] = {}
        for inputs, _ in answer.terms:
            row = self._term(answer.termdag, inputs, terms_by_number)
            assert isinstance(row, Term)
            rows.append(row.args)
        return rows

    def table(
        self, function: str, limit: int = 10_000
    ) -> list[tuple[Term, Term | int | float | str]]:
        """The values of a function of one term, terms as their cheapest form."""
        (answer,) = self.run(f"(print-function {function} {limit})")
        values = []
        terms_by_number: dict[int, Term | int | float | str] = {}
        for inputs, value in answer.terms:
            row = self._term(answer.termdag, inputs, terms_by_number)
            assert isinstance(row, Term) and isinstance(row.args[0], Term)
            values.append((row.args[0], self._term(answer.termdag, value, terms_by_number)))
        return values

    def variants(self, name: str, limit: int) -> list[Term]:
        """Terms that are equal to a global, the cheapest first."""
        (answer,) = self.run(f"(extract {name} {limit})")
        by_number: dict[int, Term | int | float | str] = {}
        terms = [self._term(answer.termdag, t, by_number) for t in answer.terms]
        return [t for t in terms if isinstance(t, Term)]

    def size(self) -> int:
        """The number of terms."""
        (answer,) = self.run("(print-size)")
        return sum(int(n) for n in re.findall(r"(\d+)\)", str(answer)))

    def extract(self, name: str) -> Term:
        """The cheapest term of the class of a global."""
        (answer,) = self.run(f"(extract {name})")
        term = self._term(answer.termdag, answer.term, {})
        assert isinstance(term, Term)
        return term

    def _term(
        self, dag: Any, number: int, by_number: dict[int, Term | int | float | str]
    ) -> Term | int | float | str:
        """A node of the answer: one object for each term of the e-graph."""
        if number not in by_number:
            node = dag.get(number)
            if hasattr(node, "args"):
                args = tuple(self._term(dag, a, by_number) for a in node.args)
                key = node.name, *(id(a) if isinstance(a, Term) else (type(a), a) for a in args)
                by_number[number] = self._terms.setdefault(key, Term(node.name, args))
            else:
                by_number[number] = getattr(node.value, "value", node.value)
        return by_number[number]


@cache
def rules_text(name: str) -> str:
    """The text of one of the rule files."""
    return (FOLDER / f"{name}.egg").read_text(encoding="utf-8")


@cache
def _bindings() -> Any:
    """egglog.bindings, without running egglog/__init__.py where the layout of the package allows."""
    if "egglog" not in sys.modules:
        spec = importlib.util.find_spec("egglog")
        if spec is not None and spec.submodule_search_locations:
            package = types.ModuleType("egglog")
            package.__path__ = list(spec.submodule_search_locations)
            sys.modules["egglog"] = package
            try:
                return import_module("egglog.bindings")
            except ImportError:
                pass
            finally:
                del sys.modules["egglog"]
    return import_module("egglog.bindings")
