"""Writes docs/json.md, the keys of `--json`, from docs/json.schema.json:

    python docs/make_json.py

tests/docs/test_json.py compares them, and what commands print with the schema.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
SCHEMA = HERE / "json.schema.json"
PAGE = HERE / "json.md"
HEAD = """# JSON

Commands that report print one JSON value to stdout with `--json`, and nothing else there; diagnostics go to
stderr, and [exit codes](../README.md#exit-codes) stay as they are. This page is made from
[json.schema.json](json.schema.json), a JSON Schema (2020-12) with a definition for each command:
`json.schema.json#/$defs/run` describes what `hbc run --json` prints.

**Version 1.** Within a version keys are added, and none is removed, renamed or given another type; readers
pass over keys that they do not know. `?` behind a key: it may be absent. Numbers that JSON has no spelling
for (infinite, NaN) are null.
"""


def page() -> str:
    """The text of the page: commands, then what they share."""
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    commands = [name_of(each) for each in schema["anyOf"]]
    parts = [name for name in schema["$defs"] if name not in commands]
    lines = [HEAD, "## Commands\n"]
    lines += [section(name, schema["$defs"][name]) for name in commands]
    lines += ["## Parts\n", *(section(name, schema["$defs"][name]) for name in parts)]
    return "\n".join(lines)


def section(name: str, of: dict[str, Any]) -> str:
    """A heading, what it is, and a table of its keys."""
    text = f"### {name}\n\n{of['description']}\n"
    if "properties" not in of:
        return f"{text}\nA {shown(of)}.\n"
    rows = [
        f"| `{key}`{'' if key in of['required'] else ' ?'} | {shown(value)} | {value['description']} |"
        for key, value in of["properties"].items()
    ]
    return "\n".join([text, "| key | type | |", "|---|---|---|", *rows, ""])


def shown(of: dict[str, Any]) -> str:
    """A type in words."""
    if "$ref" in of:
        return f"[{name_of(of)}](#{name_of(of)})"
    if "anyOf" in of:
        return " or ".join(map(shown, of["anyOf"]))
    kind = of.get("type", "anything")
    if isinstance(kind, list):
        return " or ".join(shown({**of, "type": one}) for one in kind)
    if kind == "array":
        return f"list of {shown(of['items'])}"
    if kind == "object":
        return f"object of {shown(of['additionalProperties'])}, by name"
    return str(kind)


def name_of(reference: dict[str, Any]) -> str:
    return str(reference["$ref"].rpartition("/")[2])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
