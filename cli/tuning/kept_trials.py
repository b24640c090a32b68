"""What was measured before, a file for each candidate in the user's cache: another tuning of the same
kernel on the same machine need not measure it again."""

from __future__ import annotations

import json

from hbc.cli.measuring.job import Job
from hbc.cli.measuring.measured_on import digest
from hbc.cli.measuring.trial import Candidate, State, Trial
from hbc.cli.tuning.journal import said, trial_of
from hbc.ir.host.cache_folder import cache_folder, keep, kept

PREFIX = "tuned-"


class KeptTrials:
    """The trials of one job. Several processes may use them at once: each file is replaced as a whole."""

    def __init__(self, job: Job) -> None:
        self._job, self._made = digest(job.facts()), job.machine.made
        self.damaged, self.outdated = 0, 0

    def find(self, candidate: Candidate) -> Trial | None:
        """The trial of a candidate; None where there is none that can be believed."""
        name = self._name(candidate)
        data = kept(name)
        if data is None:
            self.damaged += self._is_there(name)
            return None
        found = trial_of(data.decode("utf-8", "replace"))
        if found is None or found[0] != self._job:
            self.damaged += 1
            return None
        if found[1] != self._made:
            self.outdated += 1
            return None
        trial = found[2]
        return Trial(candidate, trial.state, trial.seconds, trial.reason, kept=True)

    def keep(self, trial: Trial) -> None:
        """For the next time. What hung or failed may have met a busy machine: that is tried again."""
        if trial.state in (State.MEASURED, State.REFUSED, State.WRONG) and not trial.kept:
            line = json.dumps({"job": self._job, "made": self._made, **said(trial)})
            keep(self._name(trial.candidate), line.encode())

    def notes(self) -> list[str]:
        """What is to be said of what was found."""
        found = []
        if self.damaged:
            found.append(f"note: {self.damaged} damaged files of the cache were ignored")
        if self.outdated:
            text = (
                "candidates kept by another version of hbc or of the C compiler are measured again"
            )
            found.append(f"note: {self.outdated} {text}")
        return found

    def _name(self, candidate: Candidate) -> str:
        return f"{PREFIX}{digest([self._job, candidate.key])}.json"

    @staticmethod
    def _is_there(name: str) -> bool:
        folder = cache_folder()
        return folder is not None and (folder / name).exists()
