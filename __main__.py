"""`python -m hbc`: the command, where no script is installed."""

from __future__ import annotations

from hbc.cli.main import main

if __name__ == "__main__":
    main()
