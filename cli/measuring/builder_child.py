"""The process that makes libraries of candidates, one at a time: what hangs there ends only itself.

Usage: python -m hbc.cli.measuring.builder_child FOLDER. The first line on stdin says what is tuned, each
other is a candidate; each is answered with a line on stdout (see `builder`), the first with an empty one.
"""

from __future__ import annotations

import gc
import json
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from hbc.cli.measuring.guard import guarded
from hbc.cli.pipeline import features_of, load_passes
from hbc.cli.show.frames import CALL_DEPTH
from hbc.codegen.build.precompiled import precompiled
from hbc.codegen.build.program import for_this_processor
from hbc.codegen.build.toolchain import build, find_compiler, flags
from hbc.codegen.c.file import emit_c
from hbc.frontend.checks.check import check
from hbc.frontend.program.funcs import Pipeline
from hbc.frontend.text.parse import parse
from hbc.ir.ground.diag import HbcError
from hbc.ir.ground.source import Source
from hbc.ir.lang.target import TARGETS, Target

OBJECTS_BEFORE_COLLECTION = 1_000_000  # as in `main`: a compilation makes many objects that stay


def answered(
    p: Pipeline, target: Target, asked: dict[str, Any], folder: Path, first: bool
) -> dict[str, Any]:
    """The library of a candidate, or why there is none. The `first` of a process does not wait for headers to
    be compiled, which takes as long as they save four others."""
    try:
        kernel = guarded(
            p, asked["text"], target, asked["settings"], asked["selects"], asked["strict"],
            asked["sizes"],
        )  # fmt: skip
        made = emit_c(kernel, target, None, features_of(target))
        source, native = for_this_processor(made, target, soft=False)
        compiler = find_compiler()
        options = flags(source, native, compiler)
        extra = () if first else precompiled(source.text, options, compiler, folder)
        out = folder / f"{asked['key']}{'-whole' if asked['sizes'] is None else ''}.so"
        build(source, native, out, compiler=compiler, extra=extra)
    except HbcError as failure:
        return {"refused": failure.diagnostics[0].message}
    return {
        "library": str(out), "function": made.name, "parallel": made.parallel,
        "instructions": sorted({i.name for i in kernel.instructions}),
    }  # fmt: skip


def main() -> None:
    sys.setrecursionlimit(CALL_DEPTH)
    gc.set_threshold(OBJECTS_BEFORE_COLLECTION)
    folder = Path(sys.argv[1])
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever else prints does not answer
    said = json.loads(sys.stdin.readline())
    source = Source(said["name"], said["text"])
    program = parse(source)
    isa = tuple(Path(each) for each in said["isa"])
    target = replace(TARGETS[said["target"]], isa=isa)
    checked: dict[str, Pipeline] = {}  # by settings
    load_passes(target)
    find_compiler()
    gc.freeze()  # what is loaded by now stays
    replies.write("{}\n")
    replies.flush()
    for number, line in enumerate(sys.stdin):
        asked = json.loads(line)
        under = json.dumps(asked["settings"], sort_keys=True)
        if under not in checked:
            checked = {under: check(program, asked["settings"], False)}
        reply = answered(checked[under], target, asked, folder, number == 0)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()


if __name__ == "__main__":
    main()
