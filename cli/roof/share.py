"""A share of this machine's roof as keys of `--json`: at most 1, and why where it was more."""

from __future__ import annotations

from hbc.cli.show.report import Json

ABOVE = "above the roof: that was measured on a busy machine, or less is computed than the algorithm says"


def share_keys(share: float) -> dict[str, Json]:
    """`roof_share`, at most 1, and a `note` where it was cut."""
    return {"roof_share": min(share, 1.0), "note": ABOVE if share > 1 else None}
