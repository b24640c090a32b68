"""What the fuzzer has done: outcomes, refusals, failures, and how often each feature was used."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from agreement import Outcome
from case import Case

from hbc.frontend.directives.table import DIRECTIVES
from hbc.frontend.program.vocabulary import TAILS
from hbc.ir.lang.types import DTYPES

LATER = tuple(name for name, row in DIRECTIVES.items() if row.gpu)  # for the target `cuda`
WORDS = (
    *(d for d in DIRECTIVES if d not in LATER), "registers", "stack", "heap", *DTYPES,
    "clamp_edge", "zero_edge", "mirror", "wrap", "select", "let", "where", "while", "min", "max", "abs",
    "clamp", "exp", "exp2", "log", "sqrt", "rsqrt", "sin", "cos", "tanh", "floor", "ceil", "round", "not",
    "and", "or", "table", "param", "type", "require", "reduce", "inf", "pi",
)  # fmt: skip

LIBRARY = "complex", "image", "math", "ml"

FEATURES: dict[str, str] = {
    **{word: rf"\b{word}\b" for word in WORDS},
    **{f"tail = {tail}": rf"tail = {tail}\b" for tail in TAILS},
    "in": r"\.in\(",
    "function": r"(?m)^def d\d+\(", "function of a Func": r"(?m)^def s\d+\(f\)\[",
    "function of tuples": r"(?m)^def d\d+\(\(", "family": r"(?m)^for l ",
    "family of tuples": r"(?m)^for l .*\{ \(g",
    **{f"std/{file}.hb": rf'(?m)^import "std/{file}.hb"' for file in LIBRARY},
    "stencil of the library": r"\b(blur\d_[xy]|sobel_[xy])\(", "row of the library": r"\brow_\w+\(",
    "interval of data": r"(?m)^reduce .*ptr\[",
    "reduction in an expression": r"\b(sum|product|max|min)\(q\d+ in ",
    "narrow interval": r"(?m)^reduce \w+ in \w+ \.\. min\(",
    "scalar": r"(?m)^input \w+: \w+$", "scalar as a size": r"(?m)^input Q: ",
    "bound (of values)": r"(?m)^bound ",
    "bound": r"\.bound\(",
    "compute_at(update)": r"compute_at\(\w+\.update",
    "several values": r"(?m)^\(f\d", "several values, ordered": r"(?m)^\(f\d.* = select\(",
    "several updates": r"\.update\(1\)",
    "aliases": r"(?m)^output .* aliases ",
    "several outputs": r"(?s)\noutput.*\noutput",
    "scan": r"(?m)^(\w+)\[.*(r\d+).*\] = .*\1\[.*\2 [-+] \d",
    "all of a step before": r"(?m)^(\w+)\[.*(r\d+).*\] = .*\1\[.*clamp\(r\d+ \+ \d - 2, ",
    "histogram": r"(?m)^\w+\[.*clamp\(i64.*\] [-+*&|^maxin]*= ",
    "let as index": r"let q\d+ = ",
    "float as index": r"i64\((round|abs)\(|i64\(\w+\[[^]]*\] \* 4\)",
    "arithmetic as index": r"i64\((~|-|max\()|i64\(\w+\[[^]]*\] ([*/&] [37]|<< 1)\)",
    "index through a type": r"i64\([iu]\d+\(",
    "let in a scan": r"= let t\d+ = ",
    "let in a condition": r"(where|select\(|not) \(?let [qt]\d* = ",
    "scalar of a tile": r"(?m)^input gain: ", "fragments": r"store_in\((wmma|mma)_accumulator",
    "staged by a block": r"shared\)", "f16 and bf16": r"(?m)^input [AI]: bf16[^:]*\ninput \w+: f16\[",
    "1 x 1 tiles": r"tile\(.*, 1, 1\)",
    "data-dependent index": r"\[[^=\n]*i64\(\w+\[",
    **{f"{op}=": rf"\] {re.escape(op)}= "
       for op in ("+", "-", "*", "/", "%", "<<", ">>", "min", "max", "&", "|", "^")},
    **{op: rf" {re.escape(op)} " for op in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>", "**")},
    "~": r"\(~", "unary -": r"\(-\w",
}  # fmt: skip
FEATURES["no input"] = r"\A(?![\s\S]*\ninput )"


def features(case: Case) -> list[str]:
    """What a case makes use of."""
    return [name for name, pattern in FEATURES.items() if re.search(pattern, case.program)]


@dataclass(slots=True)
class Tally:
    """Counts of everything, and one small case for each kind of failure."""

    outcomes: Counter[str] = field(default_factory=Counter)
    targets: Counter[str] = field(default_factory=Counter)
    runs: int = 0
    selected: int = 0
    shares: int = 0
    used: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    failures: Counter[str] = field(default_factory=Counter)
    smallest: dict[str, tuple[Case, Outcome]] = field(default_factory=dict)

    def add(self, case: Case, outcome: Outcome) -> None:
        self.outcomes[outcome.kind] += 1
        self.runs += outcome.runs
        self.selected += outcome.selected
        self.shares += outcome.shares
        match outcome.kind:
            case "passed":
                self.targets[case.target] += 1
                self.used.update(features(case))
            case "failed":
                self.failures[outcome.where] += 1
            case _:
                self.refusals[f"{outcome.kind}: {outcome.where}"] += 1

    def summary(self, seconds: float) -> str:
        """One line for each kind of count."""
        o = self.outcomes
        refused = sum(n for kind, n in o.items() if kind not in ("passed", "failed"))
        targets = ", ".join(f"{n} on {t}" for t, n in sorted(self.targets.items()))
        lines = [
            f"{o['passed']} programs passed ({targets}; {self.runs} sets of sizes; "
            f"{self.selected} use tensor instructions, {self.shares} share memory), "
            f"{o['failed']} failed, {refused} were refused "
            f"({100 * refused / max(sum(o.values()), 1):.1f} %), in {seconds:.0f} s"
        ]
        lines += [f"  refused {n:5} x {why}" for why, n in self.refusals.most_common(20)]
        lines += [f"  FAILED  {n:5} x {why}" for why, n in self.failures.most_common()]
        return "\n".join(lines)

    def coverage(self) -> str:
        """Every feature with the share of passed programs that use it, the rarest first."""
        passed = max(self.outcomes["passed"], 1)
        rows = sorted((self.used[name], name) for name in FEATURES)
        return "\n".join(f"  {100 * n / passed:5.1f} % {n:6} {name}" for n, name in rows)
