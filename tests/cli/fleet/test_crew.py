"""Requests and workers, faked: one at a time on each, the lost are tried once more, all gone is the end."""

from __future__ import annotations

import time
from random import Random

import pytest
from fleet_fakes import OTHER, FakeClient, answered, candidate, crew_of, told

from hbc.cli.fleet.told import Told, most_common
from hbc.cli.fleet.track import FleetTrack, in_proportion
from hbc.cli.measuring.racing import Interrupted
from hbc.cli.measuring.track import Deserted
from hbc.cli.measuring.trial import State, Trial
from hbc.ir.ground.diag import ToolError

BEST = Trial(candidate("best"), State.MEASURED, 1.0)
THREE = [candidate(n, s) for n, s in (("a", 3.0), ("b", 1.5), ("c", 2.0))]


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hbc.cli.fleet.crew.POLL", 0.01)
    monkeypatch.setattr("hbc.cli.fleet.crew.GONE", 0.05)
    monkeypatch.setattr("hbc.cli.fleet.crew.LATE", 0.05)


def track_of(client: FakeClient, **more: Told) -> FleetTrack:
    return FleetTrack(crew_of(client, more), "job", {"files": {}})


def raced(client: FakeClient, best: Trial | None = BEST) -> dict[str, Trial]:
    return {t.candidate.about: t for t in track_of(client).race(THREE, best, Random(0))}


def test_each_worker_has_one_at_a_time_and_the_bundle_once() -> None:
    client = FakeClient({"x": answered, "y": answered})
    found = raced(client)
    assert {n: t.seconds for n, t in found.items()} == {"a": 3.0, "b": 1.5, "c": 2.0}
    assert {t.worker for t in found.values()} == {"x", "y"}
    assert [a for a, _ in client.asked[:2]] == ["x", "y"]
    assert sorted(a for a, with_it in client.bundles if with_it) == ["x", "y"]
    assert all(len(r["candidates"]) == 1 and r["best"]["seconds"] == 1.0 for _, r in client.asked)


def test_without_a_best_each_is_measured_beside_the_first() -> None:
    client = FakeClient({"x": answered})
    raced(client, best=None)
    assert [[c["about"] for c in r["candidates"]] for _, r in client.asked] == [
        ["a"],
        ["a", "b"],
        ["a", "c"],
    ]


def test_of_a_worker_that_vanishes_another_takes_the_request() -> None:
    client = FakeClient({"x": lambda _: None, "y": answered}, gone={"x"})
    found = raced(client)
    assert {t.state for t in found.values()} == {State.MEASURED} and len(found) == 3
    assert client.cancelled == 1 and {t.worker for t in found.values()} == {"y"}


def test_what_two_workers_died_of_is_discarded() -> None:
    def dies_of_b(request: dict) -> dict:
        bad = request["candidates"][0]["about"] == "b"
        return {"died": "its process ended with -9"} if bad else answered(request)

    client = FakeClient({"x": dies_of_b, "y": dies_of_b})
    found = raced(client)
    assert found["b"].state is State.LOST and found["b"].reason.startswith("gone before it was")
    assert found["a"].state is found["c"].state is State.MEASURED
    asked = [a for a, r in client.asked if r["candidates"][0]["about"] == "b"]
    assert sorted(asked) == ["x", "y"]


def test_a_worker_that_forgot_the_job_is_told_again() -> None:
    forgets = iter([answered, lambda _: {"unknown": True}])
    client = FakeClient({"x": lambda request: next(forgets, answered)(request)})
    assert len(raced(client)) == 3
    assert [with_it for _, with_it in client.bundles] == [True, False, True, False]


def test_without_workers_it_ends_with_what_there_is() -> None:
    answers = iter([answered])
    client = FakeClient({"x": lambda request: next(answers, lambda _: None)(request)})
    track = track_of(client)
    real, client.submit = client.submit, lambda *a, **k: _last(client, real(*a, **k))
    with pytest.raises(Deserted) as end:
        track.race(THREE, BEST, Random(0))
    assert [t.candidate.about for t in end.value.trials] == ["a"]


def _last(client: FakeClient, future: object) -> object:
    """The worker is gone with the second request."""
    if len(client.asked) == 2:
        client.workers.clear()
    return future


def test_an_interruption_keeps_what_is_over_and_cancels_the_rest() -> None:
    def interrupted(request: dict) -> dict:
        raise KeyboardInterrupt

    answers = iter([answered, lambda _: None])
    client = FakeClient({"x": answered, "y": lambda r: next(answers, interrupted)(r)})
    track = track_of(client)
    client.workers["x"] = lambda r: answered(r) if len(client.asked) < 3 else interrupted(r)
    with pytest.raises(Interrupted) as stop:
        track.race([*THREE, candidate("d"), candidate("e")], BEST, Random(0))
    assert {t.candidate.about for t in stop.value.trials} >= {"a"}
    assert client.cancelled == 1 and ("abandon", "y") in client.told


def test_what_is_late_is_not_waited_for() -> None:
    client = FakeClient({"x": lambda _: None, "y": answered})
    begun = time.monotonic()
    found = track_of(client).race(THREE, BEST, Random(0), until=begun + 0.1)
    assert {t.candidate.about for t in found} == {"b", "c"} and client.cancelled == 1
    assert track_of(client).race(THREE, BEST, Random(0), until=begun) == []


def test_who_cannot_is_an_error() -> None:
    pytest.importorskip("distributed")  # whose errors are not the worker's
    with pytest.raises(ToolError, match="cannot measure: no file"):
        raced(FakeClient({"x": lambda _: {"refused": "no file"}}))
    with pytest.raises(ToolError, match="failed: ValueError: so"):
        raced(FakeClient({"x": lambda _: ValueError("so\nmore")}))


def test_a_batch_keeps_all_busy() -> None:
    sizes = {n: track_of(FakeClient({str(i): answered for i in range(n)})).batch for n in range(12)}
    assert sizes == {0: 8, 1: 8, 2: 8, 3: 9, 4: 8, 5: 10, 6: 12, 7: 14, 8: 8, 9: 9, 10: 10, 11: 11}


def test_workers_of_another_processor_have_no_requests() -> None:
    client = FakeClient({"x": answered, "y": answered})
    track = track_of(client, y=told(OTHER))
    assert {t.worker for t in track.race(THREE, BEST, Random(0))} == {"x"}


def test_the_machine_of_most_measures(capsys: pytest.CaptureFixture[str]) -> None:
    found = most_common({"x": told(OTHER), "y": told(), "z": told()})
    assert found == told().machine
    assert "note: the worker x is left aside: 6502, gcc 1; most are Z80" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("one", "said"),
    [
        (Told("0.1 (abc)", None, "hbc 0.1 (abc) there, 0.2 here"), "hbc 0.1 .abc. there, 0.2 here"),
        (Told(told().version, None, "no C compiler"), "no worker can measure: x: no C compiler"),
    ],
)
def test_who_is_no_help_is_refused(one: Told, said: str) -> None:
    with pytest.raises(ToolError, match=said):
        most_common({"x": one})


def test_seconds_are_in_proportion_to_the_first() -> None:
    """One machine was twice as slow: there everything counts half."""
    a, b, c = THREE
    found = [
        [Trial(a, State.MEASURED, 2.0)],
        [Trial(a, State.MEASURED, 4.0), Trial(b, State.MEASURED, 6.0)],
        [Trial(a, State.MEASURED, 2.0), Trial(c, State.WRONG, reason="so")],
    ]
    assert [t.seconds for t in in_proportion(found, THREE, None)] == [2.0, 3.0, None]


def test_what_failed_on_one_worker_is_no_result() -> None:
    a, b, _ = THREE
    found = [
        [Trial(a, State.MEASURED, 2.0)],
        [Trial(a, State.CRASHED, reason="so"), Trial(b, State.MEASURED, 6.0)],
    ]
    states = [t.state for t in in_proportion(found, THREE, None)]
    assert states == [State.CRASHED, State.MEASURED]


def test_the_best_is_none_where_no_worker_builds_it() -> None:
    a, b, _ = THREE
    refused = Trial(BEST.candidate, State.REFUSED, reason="so")
    one, two = Trial(a, State.MEASURED, 2.0), Trial(b, State.MEASURED, 2.0)
    assert in_proportion([[refused, one], [two]], THREE, BEST) == [one, two]
    assert in_proportion([[refused, one], [refused, two]], THREE, BEST) == [one, two, refused]


def test_other_sizes() -> None:
    wrong = {"failure": {"state": "wrong", "reason": "at N = 7: so"}}
    answers = iter([answered, lambda _: wrong])
    track = track_of(FakeClient({"x": lambda request: next(answers)(request)}))
    assert track.elsewhere(THREE[0]) is None
    failure = track.elsewhere(THREE[1])
    assert failure is not None and (failure.state, failure.reason) == (State.WRONG, "at N = 7: so")
