"""What another machine needs of a job: the texts of the kernel and of all that it names, and its settings.

Files keep their places beside each other, so that what the kernel imports and reads is found there by the
same names.
"""

from __future__ import annotations

import os
from base64 import b64decode, b64encode
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hbc.cli.files.inputs import choose_example, gather_inputs
from hbc.cli.measuring.job import Job
from hbc.cli.measuring.measured_on import Machine
from hbc.cli.pipeline import load_pipeline
from hbc.cli.runs.work import count_work
from hbc.frontend.expand.imports import LIBRARY_PREFIX
from hbc.frontend.program.funcs import Pipeline
from hbc.ir.ground.diag import error
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS

Bundle = dict[str, Any]


def bundle_of(job: Job, example: str | None) -> Bundle:
    """The job as JSON. HbcError for files that cannot be read."""
    p = job.pipeline
    kernel = Path(p.source.name)
    texts = {kernel: p.source.text.encode()}
    texts |= {
        Path(one.name): one.text.encode()
        for one in p.imported
        if not one.name.startswith(LIBRARY_PREFIX)
    }
    for path in (*_inputs(p, kernel.parent, example), *job.target.isa):
        try:
            texts[path] = path.read_bytes()
        except OSError as failure:
            raise error(f"cannot read `{path}`: {failure.strerror}") from failure
    places = {path: Path(os.path.normpath(path.absolute())) for path in texts}  # links stay
    top = Path(os.path.commonpath([place.parent for place in places.values()]))
    names = {path: place.relative_to(top).as_posix() for path, place in places.items()}
    return {
        "files": {names[path]: b64encode(text).decode() for path, text in texts.items()},
        "kernel": names[kernel], "isa": [names[path] for path in job.target.isa],
        "target": job.target.name, "settings": dict(job.settings), "example": example,
        "threads": job.threads,
    }  # fmt: skip


def job_of(bundle: Bundle, folder: Path, machine: Machine) -> Job:
    """The job, its files in a folder of this machine."""
    for name, text in bundle["files"].items():
        path = folder / name
        if not path.resolve().is_relative_to(folder.resolve()):
            raise error(f"`{name}` is no file of a job")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b64decode(text))
    kernel = folder / bundle["kernel"]
    source = Source(str(kernel), kernel.read_text(encoding="utf-8"))
    isa = tuple(folder / name for name in bundle["isa"])
    target = replace(TARGETS[bundle["target"]], isa=isa)
    settings = bundle["settings"]
    p = load_pipeline(source, settings)
    run = gather_inputs(p, settings, choose_example(p, bundle["example"]), {})
    return Job(p, target, settings, run, count_work(p, run.sizes), bundle["threads"], machine)


def _inputs(p: Pipeline, folder: Path, example: str | None) -> Iterator[Path]:
    """The files that the example names. HbcError for one that no other machine has at that place."""
    for _, fill in choose_example(p, example).fills:
        if fill.kind == "file":
            path = Path(str(fill.args[0]))
            if path.is_absolute():
                hint = "name it relative to the kernel: workers have no such file"
                raise error(f"the example reads `{path}`", hint=hint)
            yield folder / path
