"""The command starts quickly: a small sketch is solved without the packages that take long to import.

Seconds depend on the machine, so what is pinned is the list of modules. Measured on an idle core: 0.3 s of
processor time from start to finish, of which Python, NumPy and click take two thirds. The classes of kernels'
syntax trees are no longer in it: one builder makes all trees, and needs 4 ms for them.
"""

from __future__ import annotations

import subprocess
import sys

from sketch_solver import SKETCHES

SLOW = (
    "egglog", "rich", "PIL", "matplotlib", "scipy", "torch", "ml_dtypes",  # packages
    "numpy.random", "numpy.testing", "unittest", "secrets", "multiprocessing",
    "hbc.frontend.text.parse", "hbc.frontend.checks.check",  # kernels
    "hbc.ir.lang.nodes",
    "hbc.codegen.c.file", "hbc.eqsat", "hbc.cli.pipeline", "hbc.cli.sketches.drawing",
    "hbc.cli.sketches.synth_code",
)  # fmt: skip
PROGRAM = """
import sys
from hbc.cli.main import main
sys.argv = ["hbc", "synth", sys.argv[1]]
try:
    main()
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


def test_a_small_sketch_imports_nothing_slow() -> None:
    command = [sys.executable, "-c", PROGRAM, str(SKETCHES / "ffm4.sf")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.stdout.startswith("# solution 1"), done.stderr
    loaded = set(done.stderr.split())
    assert "hbc.synth.results.solve" in loaded
    assert sorted(loaded & set(SLOW)) == []
