"""The parameters of a sketch: defaults, what they may be, and what `--set` makes of them."""

from __future__ import annotations

import re
from collections.abc import Mapping

from hbc.frontend.sketch import ast
from hbc.frontend.sketch.index import option_value
from hbc.ir.ground.diag import Diagnostic, Note, UsageError, did_you_mean, error
from hbc.ir.ground.source import Span
from hbc.ir.moves.sketch import RESERVED, Option

INTEGER = re.compile(r"-?\d{1,9}")
WORD = re.compile(r"[A-Za-z]\w*")


class Parameters:
    """Values by name, in the order of declaration."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        self.settings = dict(settings)
        self.values: dict[str, Option] = {}
        self.spans: dict[str, Span] = {}
        self.words: dict[str, Span] = {}  # names that were no parameters where they were used

    def declare(self, node: ast.Param) -> None:
        known = self.spans.get(node.name)
        for given in (node.value, *node.allowed):
            if isinstance(given, ast.Name) and given.name not in self.values:
                self.words.setdefault(given.name, given.span)
        if node.name in self.words:
            later = Note("it is declared here", node.span)
            used = self.words[node.name]
            raise error(f"parameter `{node.name}` is used before it is declared", used, None, later)
        imported = known is not None and known.source is not node.span.source
        if known is not None and not imported:
            previous = Note("it is declared here", known)
            raise error(f"parameter `{node.name}` is declared twice", node.span, None, previous)
        default = option_value(node.value, self.values)
        allowed = [option_value(value, self.values) for value in node.allowed]
        # What a file declares before it imports another one stands instead of that one's default.
        value = self.values[node.name] if imported else default
        if node.name in self.settings:
            value = read_setting(node.name, self.settings[node.name], default)
        allowed = allowed or list(RESERVED.get(node.name, ()))
        if allowed and value not in allowed:
            listed = ", ".join(map(str, allowed))
            raise UsageError(
                Diagnostic(f"`{node.name}` is {value}, and may be one of {listed}", node.span)
            )
        self.values[node.name] = value
        self.spans[node.name] = node.span

    def refuse_unknown(self) -> None:
        """UsageError for a setting of something that is no parameter."""
        for name in self.settings:
            if name not in self.values:
                listed = ", ".join(self.values) or "none"
                hint = did_you_mean(name, self.values) or f"the parameters are: {listed}"
                raise UsageError(Diagnostic(f"the sketch has no parameter `{name}`", hint=hint))


def read_setting(name: str, text: str, default: Option) -> Option:
    """The text as what the default is: a number or a word."""
    if isinstance(default, int):
        if INTEGER.fullmatch(text):
            return int(text)
        raise UsageError(Diagnostic(f"`--set {name}={text}`: `{name}` is an integer"))
    if WORD.fullmatch(text):
        return text
    raise UsageError(Diagnostic(f"`--set {name}={text}`: `{name}` is a word"))
