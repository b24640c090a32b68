"""Merges what the benchmark scripts recorded into one table.

`table.py RECORD` prints it, `table.py --write RESULTS.md RECORD` writes it as Markdown as well: the
remarks that stand in that file stay.
"""

import argparse
import sys
from pathlib import Path

from record import read_record
from results import write_results
from rows import case_rows, text_table
from summary import summary


def main() -> int:
    """Exit code 1 where a run failed or a peer computed something else, 2 on unusable files."""
    parser = argparse.ArgumentParser(description="Merges what the benchmark scripts recorded.")
    parser.add_argument("record", type=Path, metavar="RECORD")
    parser.add_argument("--write", type=Path, metavar="RESULTS.md")
    arguments = parser.parse_args()
    try:
        record = read_record(arguments.record.read_text(encoding="utf-8"))
        if arguments.write:
            write_results(arguments.write, record)
    except (OSError, ValueError) as error:
        print(f"table.py: {error}", file=sys.stderr)
        return 2
    rows = [row for case in record.cases for row in case_rows(case)]
    print("\n".join([*text_table(rows), "", *summary(record.cases)]))
    return 1 if any(case.failures or case.untimed("wrong") for case in record.cases) else 0


if __name__ == "__main__":
    sys.exit(main())
