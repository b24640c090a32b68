"""The table: a row for each case and peer, as aligned text or as Markdown."""

from collections.abc import Iterator, Sequence
from math import floor, log10
from statistics import median

from goals import Goal, goals_of
from record import Case, Peer

# Columns whose name ends in `>` are aligned right.
COLUMNS = (
    "workload", "size", "hbc ms>", "rate>", "roof>", "peer", "peer ms>", "ratio>", "goal",
    "how the peer does it",
)  # fmt: skip


def case_rows(case: Case) -> Iterator[list[str]]:
    """A row for each peer that was timed or that a goal names; the first one says how fast hbc is."""
    first = [case.workload, case.label, *_hbc_cells(case)]
    goals = goals_of(case)
    peers = {peer.name: peer for peer in case.peers()}
    for name in dict.fromkeys([*peers, *goals]) or [""]:
        yield first + _peer_cells(case, name, peers.get(name), goals.get(name))
        first = [""] * len(first)


def _hbc_cells(case: Case) -> list[str]:
    if case.seconds is None:
        return ["failed", "", ""]
    if case.hbc[0]["roof"]["bound"] == "memory":
        key, unit = "gbytes_per_s", "GB/s"
    else:
        key, unit = "gflops", rate_unit(case.workload)
    rate, share = (median(one[k] for one in case.hbc) for k in (key, "roof_share"))
    return [milliseconds(case.seconds), f"{three_digits(rate)} {unit}", f"{share:.0%}"]


def _peer_cells(case: Case, name: str, peer: Peer | None, goal: Goal | None) -> list[str]:
    ratio = case.ratio(peer) if peer else None
    return [
        name,
        milliseconds(peer.seconds) if peer else "",
        "" if ratio is None else f"{ratio:.2f}x",
        f"{goal.ratio:g}x: {goal.outcome(ratio)}" if goal else "",
        peer.note if peer else "",
    ]


def rate_unit(kind: str) -> str:
    """Operations on integers are no FLOP. `kind` is a workload or a kind of arithmetic."""
    return "Gop/s" if kind.endswith("u8s8") else "GFLOP/s"


def milliseconds(seconds: float) -> str:
    """With three digits, without the unit."""
    return three_digits(seconds * 1e3)


def three_digits(value: float) -> str:
    """Three significant digits, never an exponent."""
    if value <= 0:
        return "0"
    digits = 2 - floor(log10(value))
    return f"{round(value, digits):.{max(digits, 0)}f}"


def text_table(rows: Sequence[Sequence[str]], between: str = "  ") -> list[str]:
    """Aligned lines under a line of names."""
    lines = [[name.removesuffix(">") for name in COLUMNS], *rows]
    widths = [max(map(len, cells)) for cells in zip(*lines, strict=True)]
    return [
        between.join(
            cell.rjust(width) if name.endswith(">") else cell.ljust(width)
            for cell, width, name in zip(line, widths, COLUMNS, strict=True)
        ).rstrip()
        for line in lines
    ]


def markdown_table(rows: Sequence[Sequence[str]]) -> list[str]:
    """The same lines with Markdown's bars and rule."""
    names, *lines = text_table([[cell.replace("|", r"\|") for cell in row] for row in rows], " | ")
    rule = "|".join("---:" if name.endswith(">") else "---" for name in COLUMNS)
    return [f"| {names} |", f"|{rule}|", *(f"| {line} |" for line in lines)]
