"""Reads what the benchmark scripts recorded: JSON values, one after the other."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

Json = dict[str, Any]

# {"machine": {...}}                         from machine.py
# {"case": "conv1d", "label": "..."}         what follows belongs to it
# {"kernel": "conv1d", ...}                  `hbc bench --json`: a round begins
# {"peer": "halide", "seconds_median": ...}  a peer's lines in that round
# {"failed": "hbc", "status": 1}             a command that ended with another status than 0


@dataclass(slots=True)
class Case:
    """One workload at one size. `rounds` hold the lines of peers, as many as `hbc` has results."""

    workload: str
    label: str
    hbc: list[Json] = field(default_factory=list)
    rounds: list[list[Json]] = field(default_factory=list)
    failures: list[Json] = field(default_factory=list)

    @property
    def seconds(self) -> float | None:
        """hbc's time: the median over the rounds."""
        return median(result["seconds_median"] for result in self.hbc) if self.hbc else None

    def ratio(self, peer: "Peer") -> float | None:
        """The peer's time over hbc's: above 1 hbc is faster."""
        return None if self.seconds is None else peer.seconds / self.seconds

    def peers(self) -> "list[Peer]":
        """Every peer that was timed, in the order of its script."""
        names = dict.fromkeys(line["peer"] for line in self._lines("seconds_median"))
        return [self._peer(name) for name in names]

    def untimed(self, key: str) -> list[Json]:
        """One line for each peer that is `missing`, `unsuitable` or `wrong`, whichever `key` is."""
        return list({line["peer"]: line for line in self._lines(key)}.values())

    def _lines(self, key: str) -> Iterator[Json]:
        return (line for lines in self.rounds for line in lines if key in line)

    def _peer(self, name: str) -> "Peer":
        fastest = [
            min(ways, key=lambda line: float(line["seconds_median"]))
            for lines in self.rounds
            if (ways := [x for x in lines if x["peer"] == name and "seconds_median" in x])
        ]
        last = fastest[-1]
        compiling = [line["seconds_compile"] for line in fastest if "seconds_compile" in line]
        return Peer(
            name,
            last["version"],
            median(line["seconds_median"] for line in fastest),
            last["note"],
            median(compiling) if compiling else None,
        )


@dataclass(frozen=True, slots=True)
class Peer:
    """A peer's time: in each round the fastest of the ways to call it, then the median of those."""

    name: str
    version: str
    seconds: float
    note: str
    compile_seconds: float | None


@dataclass(frozen=True, slots=True)
class Record:
    """All cases in the order of their first measurement, and the machine where it was described."""

    machine: Json | None
    cases: list[Case]


def read_record(text: str) -> Record:
    """A case measured again replaces the older one. ValueError on what no script wrote."""
    machine: Json | None = None
    cases: dict[tuple[str, str], Case] = {}
    case: Case | None = None
    for value in _values(text):
        match value:
            case {"machine": dict() as machine}:
                pass
            case {"case": str() as workload, "label": str() as label}:
                case = cases[workload, label] = Case(workload, label)
            case dict() if case is not None:
                _add(case, value)
            case _:
                raise ValueError(f"not a benchmark's record: {json.dumps(value)[:60]}")
    return Record(machine, list(cases.values()))


def _add(case: Case, value: Json) -> None:
    if "kernel" in value:
        case.hbc.append(value)
        case.rounds.append([])
    elif "peer" in value and case.rounds:
        case.rounds[-1].append(value)
    elif "failed" in value:
        case.failures.append(value)
    else:
        raise ValueError(f"not a line of a benchmark: {json.dumps(value)[:60]}")


def _values(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder()
    rest = text.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        yield value
        rest = rest[end:].lstrip()
