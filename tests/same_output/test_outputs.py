"""What `make outputs` writes covers what hbc can print for."""

from __future__ import annotations

from outputs import DEFAULT, cases

from hbc.ir.lang.target import TARGETS


def test_every_target_without_a_schedule_and_each_schedule_on_its_own() -> None:
    text = "output O: f32[4]\nO[i] = 0\nschedule wide for rvv512, cuda {\n}\n"
    found = list(cases(text))
    assert {target for schedule, target in found if schedule == DEFAULT} == set(TARGETS)
    assert ("wide", "rvv512") in found and ("wide", "cuda") in found and ("wide", "c") not in found
