"""What workers tell of themselves, and which of them measure: those of the machine that most are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from hbc.cli.fleet import worker
from hbc.cli.measuring.measured_on import Machine
from hbc.cli.own.installed import hbc_digest
from hbc.cli.show.crash import version
from hbc.cli.show.report import notice
from hbc.ir.ground.diag import Diagnostic, ToolError
from hbc.ir.ground.record import record

SHOWN = 8  # digits of a digest


@record
class Told:
    """`version`: of hbc there, with a part of its digest. `machine`: None where it cannot measure, for the
    `reason`."""

    version: str
    machine: Machine | None
    reason: str = ""

    def __str__(self) -> str:
        """What tells it from others."""
        if self.reason or self.machine is None:
            return self.reason
        return f"{self.machine.cpu}, {self.machine.compiler}"


def told_by(client: Any, addresses: Sequence[str]) -> dict[str, Told]:
    """What those that answer say."""
    if not addresses:
        return {}
    answers = client.run(worker.facts, workers=list(addresses), on_error="return")
    return {a: _told(said) for a, said in answers.items() if not isinstance(said, OSError)}


def _told(said: Any) -> Told:
    if isinstance(said, BaseException):
        return Told("none", None, f"hbc does not run there: {said}".splitlines()[0])
    there = _shown(said["version"], said["digest"])
    if there != own_version():
        return Told(there, None, f"hbc {there} there, {own_version()} here")
    if "refused" in said:
        return Told(there, None, said["refused"])
    return Told(there, Machine(**{**said["machine"], "runs": tuple(said["machine"]["runs"])}))


def own_version() -> str:
    """As `Told.version` has it."""
    return _shown(version(), hbc_digest())


def _shown(named: str, digest: str) -> str:
    return f"{named} ({digest[:SHOWN]})"


def most_common(told: Mapping[str, Told]) -> Machine:
    """The machine of most workers; the others are named. ToolError where one has another hbc, or none of
    them can measure: then the reasons are the same, most likely, and one is said."""
    for address, one in sorted(told.items()):
        if one.version != own_version():
            raise ToolError(
                Diagnostic(
                    f"the worker {address} cannot measure: {one}",
                    hint="install the same hbc in the environment of the workers",
                )
            )
    able = Counter(t.machine for t in told.values() if t.machine is not None)
    if not able:
        address, one = min(told.items())
        raise ToolError(Diagnostic(f"no worker can measure: {address}: {one}"))
    found = min(able, key=lambda m: (-able[m], m.cpu, m.compiler, m.made))
    for address, one in sorted(told.items()):
        if one.machine != found:
            kept = f"{found.cpu}, {found.compiler}"
            notice(f"note: the worker {address} is left aside: {one}; most are {kept}")
    return found
