"""Configurations, loads, stores and whole programs, against the model; threads have tiles each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import amx_model
import pytest
from amx_machines import Machine
from amx_program import Program, configuration
from amx_random_programs import any_programs, noise

SHAPES = [(rows, 4 * dwords) for rows in range(1, 17) for dwords in range(1, 17)]


def agree(machine: Machine, program: Program) -> None:
    assert machine.run(program) == amx_model.run(program)


@pytest.mark.parametrize("load", ["tileloadd", "tileloaddt1"])
def test_every_shape(machine: Machine, load: str) -> None:
    """Loaded with a wide stride, stored with another, the other bytes untouched."""
    for i, (rows, row) in enumerate(SHAPES):
        program, tile = Program(), i % 8
        program.configure([(0, 0)] * tile + [(rows, row)])
        program.add(load, tile, at=program.place(noise(16 * 80, i)), stride=row + i % 16)
        program.add("tilestored", tile, at=program.room(16 * 96), stride=row + i % 32)
        program.add("tilerelease")
        agree(machine, program)


@pytest.mark.parametrize("stride", [-200, -64, -1, 0, 1, 3, 63, 64, 65, 1000])
def test_strides(machine: Machine, stride: int) -> None:
    """Rows may overlap, be the same one, or follow each other downwards."""
    program = Program()
    program.configure([(9, 40), (9, 40)])
    source, target = program.place(noise(20_000)), program.room(20_000)
    program.add("tileloadd", 0, at=source + 10_000, stride=stride)
    program.add("tilestored", 0, at=target + 10_000, stride=stride)
    program.add("tileloaddt1", 1, at=source + 9_000, stride=stride)
    program.add("tilestored", 1, at=target, stride=40)
    program.add("tilerelease")
    agree(machine, program)


def test_start_row(machine: Machine) -> None:
    """A load or store that was interrupted continues, and the row number goes back to zero."""
    for start in range(7):
        program = Program()
        data = program.place(noise(1024))
        for kind in ("tileloadd", "tilestored", "tilezero", "tdpbusd"):
            program.configure([(7, 12), (7, 20), (5, 12)], start)
            program.add("sttilecfg", at=program.room(64))
            if kind == "tdpbusd":
                program.add(kind, 0, 1, 2)
            elif kind == "tilezero":
                program.add(kind, 2)
            else:
                target = data if kind == "tileloadd" else program.room(400)
                program.add(kind, 0, at=target, stride=30)
            program.add("sttilecfg", at=program.room(64))
            program.store(0, (7, 12))
        program.add("tilerelease")
        agree(machine, program)


def test_configurations(machine: Machine) -> None:
    """Each new one clears all tiles; without one there is nothing to store but zeros."""
    program = Program()
    program.add("sttilecfg", at=program.room(64))
    shapes = [(16, 64), (1, 4), (0, 0), (3, 7), (16, 1), (2, 64), (0, 0), (8, 32)]
    program.configure(shapes)
    program.add("sttilecfg", at=program.room(64))
    program.add("tilezero", 3)  # whose rows are no whole dwords
    program.load(0, noise(1024), 64)
    program.configure(shapes)
    program.store(0, shapes[0])
    program.add("ldtilecfg", at=program.place(bytes([0]) + noise(63)))
    program.add("sttilecfg", at=program.room(64))
    program.configure(shapes)
    program.add("tilerelease")
    program.add("sttilecfg", at=program.room(64))
    program.add("tilerelease")
    agree(machine, program)


def test_whole_programs(machine: Machine) -> None:
    if not machine.can("tdpfp16ps"):
        pytest.skip(f"no tdpfp16ps from the intrinsics of {machine.build.compiler}")
    if machine.is_hardware:
        pytest.skip("NaN of the hardware are its own")
    for program, expected in any_programs():
        assert machine.run(program) == expected


def test_threads(machine: Machine) -> None:
    """At the same time, in many threads, each with its own configuration."""
    programs = [strided(i) for i in range(8)]
    expected = [amx_model.run(p) for p in programs]
    with ThreadPoolExecutor(8) as threads:
        for _ in range(5):
            assert list(threads.map(machine.run, programs)) == expected


def strided(i: int) -> Program:
    rows, row = 2 * i + 1, 8 * i + 4
    program = Program()
    program.configure([(rows, row), (rows, 4 * rows), (rows, row)])
    for repeat in range(20):
        for tile, width in enumerate((row, 4 * rows, row)):
            program.load(tile, noise(1024, 100 * i + repeat), width)
        program.add("tdpbssd", 0, 1, 2)
        program.store(0, (rows, row))
    program.add("tilerelease")
    return program


def test_a_thread_s_configuration_is_its_own(machine: Machine) -> None:
    """A thread that is there already: Linux starts one with the configuration of the thread that makes it."""
    mine, other = Program(), Program()
    mine.configure([(16, 64)])
    shown = other.room(64)
    other.add("sttilecfg", at=shown)
    end = Program(bytearray(1))
    end.add("tilerelease")
    with ThreadPoolExecutor(1) as thread:
        thread.submit(machine.run, end).result()
        machine.run(mine)
        assert thread.submit(machine.run, other).result()[shown:] == bytes(64)
    assert machine.run(other)[shown:] == configuration([(16, 64)])
    machine.run(end)
    assert machine.run(other)[shown:] == bytes(64)
