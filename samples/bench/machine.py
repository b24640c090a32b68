"""Prints what the figures were measured on, as one JSON line: machine.py [THREADS].

Asks the installed hbc, which measures this machine's roofs where it has not yet.
"""

import json
import platform
import sys
from datetime import date

from hbc.cli.machine import cpu_count, cpu_name
from hbc.cli.roof.roofs import machine_roofs
from hbc.cli.show.crash import version
from hbc.cli.show.report import progress
from hbc.codegen.build.toolchain import find_compiler
from hbc.ir.ground.diag import HbcError


def describe(threads: int) -> dict[str, object]:
    """Names and versions; peaks in operations per second, bandwidths in bytes per second."""
    with progress() as shown:
        roofs = machine_roofs(threads, shown)
    return {
        "processor": cpu_name(),
        "processors": cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "date": date.today().isoformat(),
        "threads": threads,
        "hbc": version(),
        "compiler": str(find_compiler()),
        "python": platform.python_version(),
        "peaks": dict(roofs.peaks),
        "bandwidths": dict(roofs.bandwidths),
    }


def main() -> int:
    """Exit code 1 where there is no C compiler."""
    try:
        print(json.dumps({"machine": describe(int(sys.argv[1]) if sys.argv[1:] else 1)}))
    except HbcError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
