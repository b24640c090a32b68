"""A kernel emitted for somebody's project, and programs that use it."""

from __future__ import annotations

import subprocess
from pathlib import Path

from click.testing import CliRunner

from hbc.cli.commands.compile import command

KERNEL = """size N
input A: f32[N]
output B: f32[N]
B[i] = sqrt(A[i]) + exp(A[i])
schedule fast for c, avx2 { B.parallel(i) }
"""
MAIN = """#include <stdio.h>
#include "own.h"
int main(void) {
    static float a[64], b[64];
    for (int i = 0; i < 64; ++i) a[i] = (float)i / 64;
    int code = own(64, a, b);
    printf("%d %.3f\\n", code, b[32]);
    return code;
}
"""
SAID = "0 2.356\n"  # sqrt(0.5) + exp(0.5)


def emitted(folder: Path, *options: str) -> Path:
    (folder / "own.hb").write_text(KERNEL)
    into = folder / "own"
    arguments = [str(folder / "own.hb"), "--target", "c", "-o", str(into), *options]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return into


def ran(*arguments: str, at: Path) -> str:
    done = subprocess.run(arguments, cwd=at, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
