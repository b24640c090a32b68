"""What goes between the machine that searches and those that measure, as JSON: candidates and trials."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hbc.cli.measuring.trial import Candidate, State, Trial

Message = dict[str, Any]


def candidate_said(c: Candidate) -> Message:
    """What a worker needs of a candidate."""
    return {
        "point": dict(c.point), "text": c.text, "about": c.about, "cycles": c.cycles,
        "selects": c.selects,
    }  # fmt: skip


def candidate_read(said: Message) -> Candidate:
    """The same, there."""
    return Candidate(said["point"], said["text"], said["about"], said["cycles"], said["selects"])


def best_said(best: Trial | None) -> Message | None:
    """What others are measured in proportion to."""
    if best is None:
        return None
    return {"candidate": candidate_said(best.candidate), "seconds": best.seconds}


def best_read(said: Message | None) -> Trial | None:
    """The same, there."""
    if said is None:
        return None
    return Trial(candidate_read(said["candidate"]), State.MEASURED, said["seconds"])


def trials_said(trials: Iterable[Trial]) -> list[Message]:
    """What a worker answers."""
    return [
        {"key": t.candidate.key, "state": str(t.state), "seconds": t.seconds, "reason": t.reason}
        for t in trials
    ]


def trials_read(
    said: Iterable[Message], asked: Mapping[str, Candidate], worker: str
) -> list[Trial]:
    """The same, here. `asked`: the candidates by their keys."""
    return [
        Trial(asked[t["key"]], State(t["state"]), t["seconds"], t["reason"], worker=worker)
        for t in said
    ]
