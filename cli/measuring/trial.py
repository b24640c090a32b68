"""What became of a candidate: a schedule that was made, and measured or refused."""

from __future__ import annotations

from enum import StrEnum
from hashlib import sha256

from hbc.frontend.costs.choices import Point
from hbc.ir.ground.diag import HbcError, InternalError
from hbc.ir.ground.record import record


class State(StrEnum):
    """How it ended. Of all but the measured ones none is ever the result."""

    MEASURED = "measured"
    REFUSED = "refused"  # by the checker, the guard or a compiler, before it ran
    CRASHED = "crashed"
    HUNG = "hung"
    MEMORY = "memory"
    WRONG = "wrong"
    LOST = "lost"  # with two workers of a fleet that were gone before it was over


@record
class Candidate:
    """A point and its schedule. `cycles`: the model's estimate, None for a schedule of the file."""

    point: Point
    text: str
    about: str
    cycles: float | None
    selects: bool = False

    @property
    def key(self) -> str:
        """The same for the same schedule, whatever point led to it."""
        return key_of(self.text)


@record
class Trial:
    """A candidate with its result: `seconds` of a call, or the `reason` why there are none. `kept`: known
    from another run. `at`: when the result was there, in seconds of the search. `worker`: of a fleet, that
    measured it."""

    candidate: Candidate
    state: State
    seconds: float | None = None
    reason: str = ""
    kept: bool = False
    at: float | None = None
    worker: str = ""


@record
class Failure:
    """Why a candidate cannot be the result."""

    state: State
    reason: str


@record
class Built:
    """A candidate as a library: the file, the entry point in it and the tensor instructions that it uses."""

    candidate: Candidate
    library: str
    function: str
    parallel: bool
    instructions: tuple[str, ...] = ()


def key_of(text: str) -> str:
    """A digest of the words of a schedule, its name apart."""
    words = text.split()
    return sha256(" ".join(words[2:] if words[:1] == ["schedule"] else words).encode()).hexdigest()[
        :24
    ]


def best_of(trials: list[Trial]) -> Trial | None:
    """The fastest of those that were measured."""
    measured = [t for t in trials if t.state is State.MEASURED and t.seconds is not None]
    return min(measured, key=lambda t: t.seconds or 0.0, default=None)


def failed(failure: HbcError | InternalError) -> Failure:
    """What became of a candidate whose call failed."""
    said = failure.diagnostics[0].message if isinstance(failure, HbcError) else str(failure)
    if isinstance(failure, InternalError):
        return Failure(State.CRASHED, said)
    if "did not finish" in said or "processor time" in said:
        return Failure(State.HUNG, said)
    if "memory" in said or "killed by the system" in said:
        return Failure(State.MEMORY, said)
    return Failure(State.REFUSED, said)
