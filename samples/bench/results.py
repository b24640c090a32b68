"""Writes RESULTS.md: the machine, the versions, the table, and the remarks that were there."""

from collections.abc import Iterator
from pathlib import Path

from record import Json, Record
from rows import case_rows, markdown_table, rate_unit, three_digits
from summary import summary

REMARKS = "<!-- remarks: written by hand, kept when this file is made anew -->"
END_OF_REMARKS = "<!-- end of remarks -->"
NO_REMARKS = "\n## Remarks\n\nNone yet.\n\n"
EXPLANATION = """\
Each time is the median over {rounds} in which hbc and its peers took turns. The rate counts the
algorithm's operations or, where memory is the limit, its bytes; the roof is the least time that
this machine could take, as a share of hbc's. The ratio is the peer's time over hbc's: above 1 hbc
is faster. Of the ways to call a library the fastest counts."""


def write_results(file: Path, record: Record) -> None:
    """Makes the file anew, all or nothing. ValueError where it has no remarks to keep."""
    remarks = _remarks(file)
    rounds = max((len(case.hbc) for case in record.cases), default=0)
    said = f"{rounds} rounds" if rounds != 1 else "one round"
    rows = [row for case in record.cases for row in case_rows(case)]
    lines = ["# Benchmarks", "", "Written by `samples/bench/all.sh --write`; the remarks by hand."]
    lines += ["", *(f"- {line}" for line in [*_machine(record), *summary(record.cases)])]
    lines += ["", EXPLANATION.format(rounds=said), "", *markdown_table(rows), ""]
    text = "\n".join(lines) + f"\n{REMARKS}\n{remarks}{END_OF_REMARKS}\n"
    beside = file.with_suffix(".new")
    beside.write_text(text, encoding="utf-8")
    beside.replace(file)


def _remarks(file: Path) -> str:
    if not file.exists():
        return NO_REMARKS
    _, start, after = file.read_text(encoding="utf-8").partition(f"{REMARKS}\n")
    remarks, end, _ = after.partition(END_OF_REMARKS)
    if not (start and end):
        raise ValueError(f"{file} is left as it is: it lacks `{REMARKS}` or `{END_OF_REMARKS}`")
    return remarks


def _machine(record: Record) -> Iterator[str]:
    results = [result for case in record.cases for result in case.hbc]
    targets = ", ".join(dict.fromkeys(result["target"] for result in results)) or "no target"
    machine = record.machine
    if machine is None:
        yield f"Machine: not recorded; {targets}."
        return
    count = machine["processors"]
    processors = f"{count} processors" if count != 1 else "one processor"
    yield f"Machine: {machine['processor']}, {processors}, {machine['system']}."
    yield f"Date: {machine['date']}."
    threads = f"{machine['threads']} threads" if machine["threads"] != 1 else "one thread"
    yield f"hbc: {machine['hbc']}, {targets}, {threads}; Python {machine['python']}."
    yield f"C compiler: {machine['compiler']}."
    yield f"Roofs: {_roofs(machine)}."


def _roofs(machine: Json) -> str:
    rates = [(kind, rate, rate_unit(kind)) for kind, rate in machine["peaks"].items()]
    rates += [(level, rate, "GB/s") for level, rate in machine["bandwidths"].items()]
    return ", ".join(f"{name} {three_digits(rate / 1e9)} {unit}" for name, rate, unit in rates)
