"""Sentences on what the table's rows do not show: versions, compile times, goals, missing peers."""

from collections.abc import Iterator, Sequence
from statistics import median, quantiles

from goals import goals_of
from record import Case


def summary(cases: Sequence[Case]) -> list[str]:
    """One line for each subject that there is something to say about."""
    subjects = {
        "Peers": _versions(cases),
        "Compile time": _compile_times(cases),
        "Goals": _goals(cases),
        "Peers not installed": _missing(cases),
        "Peers that cannot": _by_reason(cases, "unsuitable"),
        "Peers with other results": _by_reason(cases, "wrong"),
        "Failed": "; ".join(dict.fromkeys(_failures(cases))),
    }
    return [f"{subject}: {text}." for subject, text in subjects.items() if text]


def _versions(cases: Sequence[Case]) -> str:
    peers = (peer for case in cases for peer in case.peers())
    return ", ".join(dict.fromkeys(f"{peer.name} {peer.version}" for peer in peers))


def _compile_times(cases: Sequence[Case]) -> str:
    halide = [
        peer.compile_seconds
        for case in cases
        for peer in case.peers()
        if peer.name == "halide" and peer.compile_seconds is not None
    ]
    spans = (
        _span("hbc to C", _by_kernel(cases, "compile_seconds")),
        _span("C compiler", _by_kernel(cases, "c_compiler_seconds")),
        _span("Halide", halide),
    )
    return "; ".join(filter(None, spans))


def _by_kernel(cases: Sequence[Case], key: str) -> list[float]:
    """One figure for each kernel: its median over all sizes and rounds."""
    figures: dict[str, list[float]] = {}
    for case in cases:
        figures.setdefault(case.workload, []).extend(result[key] for result in case.hbc)
    return [median(found) for found in figures.values() if found]


def _span(name: str, seconds: Sequence[float]) -> str:
    if len(seconds) < 2:
        return f"{name} {seconds[0]:.2f} s" if seconds else ""
    p95 = quantiles(seconds, n=20, method="inclusive")[-1]
    return f"{name} {min(seconds):.2f} to {max(seconds):.2f} s, 95th percentile {p95:.2f} s"


def _goals(cases: Sequence[Case]) -> str:
    count, reached, open_ = 0, 0, []
    for case in cases:
        ratios = {peer.name: case.ratio(peer) for peer in case.peers()}
        for goal in goals_of(case).values():
            measured = ratios.get(goal.peer)
            count += 1
            if goal.outcome(measured) == "reached":
                reached += 1
            else:
                stands = "not measured" if measured is None else f"{measured:.2f}x"
                open_.append(f"{case.workload} {case.label}, {goal.peer}: {stands}")
    said = f"{reached} of {count} reached" if count else ""
    return f"{said} (not: {'; '.join(open_)})" if open_ else said


def _missing(cases: Sequence[Case]) -> str:
    lines = [line for case in cases for line in case.untimed("missing")]
    return ", ".join(dict.fromkeys(f"{line['peer']} (`{line['missing']}`)" for line in lines))


def _by_reason(cases: Sequence[Case], key: str) -> str:
    found: dict[str, list[str]] = {}
    for case in cases:
        for line in case.untimed(key):
            reason = f"error {line[key]:.2g}, {line['note']}" if key == "wrong" else line[key]
            found.setdefault(f"{line['peer']} ({reason})", []).append(case.workload)
    return "; ".join(f"{peer} at {', '.join(dict.fromkeys(at))}" for peer, at in found.items())


def _failures(cases: Sequence[Case]) -> Iterator[str]:
    for case in cases:
        for failure in case.failures:
            what, status = failure["failed"], failure["status"]
            yield f"{what} at {case.workload} {case.label}, exit code {status}"
