"""What `hbc tune` says at the end: of one kernel facts and the schedule, of a table a row each, or JSON."""

from __future__ import annotations

from collections.abc import Sequence

import click

from hbc.cli.measuring.job import Job
from hbc.cli.measuring.trial import State, Trial
from hbc.cli.roof.share import share_keys
from hbc.cli.show.report import Json, headline, print_facts, print_json, print_table, seconds
from hbc.cli.tuning.layers import Row
from hbc.cli.tuning.tune import Tuned
from hbc.frontend.costs.choices import Option
from hbc.ir.ground.printable import printable
from hbc.ir.ground.record import record

ENDED = {
    "trials": "as many as --trials allows", "time": "--time is over", "interrupted": "interrupted",
    "finished": "nothing gained any more", "workers": "no worker is left",
}  # fmt: skip


@record
class Result:
    """A tuning, its share of the roof and the schedule to write, where there is one. `roof`: the seconds
    that the roof leaves."""

    job: Job
    name: str
    tuned: Tuned
    share: float | None
    text: str | None
    row: Row | None = None
    roof: float | None = None


def print_results(results: Sequence[Result], as_json: bool) -> None:
    """On stdout."""
    alone = results[0].row is None
    if as_json:
        found = [_as_json(r) for r in results]
        print_json(found[0] if alone else {"layers": found})
    elif alone:
        _print_one(results[0])
    else:
        _print_table(results)


def _print_one(r: Result) -> None:
    job, tuned = r.job, r.tuned
    facts = [("sizes", job.sizes)] if job.sizes else []
    if tuned.best is not None and tuned.best.seconds is not None:
        took = tuned.best.seconds
        unit = "GFLOP/s" if job.work.floating else "Gop/s"
        facts.append(("best", f"{seconds(took)}, {job.work.total / took / 1e9:.3g} {unit}{_of(r)}"))
        if tuned.start is not None and tuned.start.seconds is not None:
            facts.append(
                ("auto", f"{seconds(tuned.start.seconds)}: {tuned.start.seconds / took:.2f} times")
            )
    counts = [f"{tuned.count(s)} {s}" for s in State if tuned.count(s)]
    facts.append(("tried", f"{len(tuned.trials)}: {', '.join(counts)}" if counts else "0"))
    rate = _per_minute(tuned)
    ended = ENDED[tuned.stopped]
    facts.append(("took", f"{tuned.seconds:.0f} s ({rate:.0f} candidates a minute); {ended}"))
    print_facts(headline(f"{job.pipeline.name} for {job.target.name}", job.threads), facts)
    if r.text is not None:
        click.echo()
        click.echo(printable(r.text.rstrip()))


def _of(r: Result) -> str:
    if r.share is None:
        return ""
    more = ": the roof was measured on a busy machine" if r.share > 1 else ""
    return f", {r.share:.1%} of the roof{more}"


def _print_table(results: Sequence[Result]) -> None:
    rows = []
    for r in results:
        best, start = r.tuned.best, r.tuned.start
        took = None if best is None else best.seconds
        ratio = None if took is None or start is None or not start.seconds else start.seconds / took
        rows.append(
            (
                str(r.row), "-" if took is None else seconds(took),
                "-" if took is None else f"{r.job.work.total / took / 1e9:.3g}",
                "-" if r.share is None else f"{r.share:.0%}",
                "-" if ratio is None else f"{ratio:.2f}", str(len(r.tuned.trials)),
                "-" if best is None else best.candidate.about,
            )
        )  # fmt: skip
    job = results[0].job
    title = headline(f"{job.pipeline.name} for {job.target.name}", job.threads)
    unit = "GFLOP/s>" if job.work.floating else "Gop/s>"
    print_table(title, ("sizes", "best>", unit, "of the roof>", "auto / best>", "tried>", ""), rows)


def _per_minute(tuned: Tuned) -> float:
    fresh = sum(not t.kept for t in tuned.trials)
    return 60 * fresh / tuned.searched if tuned.searched > 0 else 0.0


def _as_json(r: Result) -> Json:
    tuned = r.tuned
    return {
        "kernel": r.job.pipeline.name, "target": r.job.target.name, "schedule": r.name,
        "sizes": dict(r.job.run.sizes), "settings": dict(r.job.settings), "threads": r.job.threads,
        "tried": len(tuned.trials),
        "states": {str(s): tuned.count(s) for s in State},
        "from_other_runs": sum(t.kept for t in tuned.trials),
        "stopped": tuned.stopped,
        "seconds": tuned.seconds,
        "candidates_per_minute": _per_minute(tuned),
        "auto": None if tuned.start is None else _trial(tuned.start, None),
        "best": None if tuned.best is None else {**_trial(tuned.best, r.share), "text": r.text},
        "trials": [_trial(t, None) for t in tuned.trials],
    }  # fmt: skip


def _trial(t: Trial, share: float | None) -> dict[str, Json]:
    return {
        "seconds": t.seconds, "state": str(t.state), "reason": t.reason or None,
        "point": {k: plain(v) for k, v in t.candidate.point.items()}, "about": t.candidate.about,
        **({"worker": t.worker} if t.worker else {}), **({} if share is None else share_keys(share)),
    }  # fmt: skip


def plain(option: Option) -> Json:
    """An option of a choice, as JSON holds it."""
    if option is None or isinstance(option, bool | int | str):
        return option
    return [plain(o) for o in option]
