"""Places, mistakes and edits of hbc as the Language Server Protocol (3.17) has them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from lsprotocol import types as lsp
from pygls import uris

from hbc.cli.editor.fixes import Fix
from hbc.cli.show.words import Word
from hbc.frontend.expand.imports import LIBRARY, LIBRARY_PREFIX
from hbc.ir.ground.diag import Diagnostic, Severity
from hbc.ir.ground.source import Source, Span

SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}
KINDS = {
    "directive": lsp.CompletionItemKind.Method, "function": lsp.CompletionItemKind.Function,
    "type": lsp.CompletionItemKind.Class, "value": lsp.CompletionItemKind.EnumMember,
    "keyword": lsp.CompletionItemKind.Keyword, "name": lsp.CompletionItemKind.Variable,
}  # fmt: skip


class Units(Protocol):
    """What counts characters as the client does."""

    def client_num_units(self, string: str) -> int: ...


def position(source: Source, offset: int, units: Units) -> lsp.Position:
    line, column = source.position(offset)
    return lsp.Position(line - 1, units.client_num_units(source.line(line)[: column - 1]))


def range_of(span: Span, units: Units) -> lsp.Range:
    start, end = span.start, span.end
    return lsp.Range(position(span.source, start, units), position(span.source, end, units))


def uri_of(source: Source) -> str:
    """Of a file on disk, or of the library that ships with hbc."""
    path = Path(source.name)
    if source.name.startswith(LIBRARY_PREFIX) and not path.exists():
        path = LIBRARY / source.name.removeprefix(LIBRARY_PREFIX)
    return uris.from_fs_path(str(path.resolve())) or source.name


def diagnostic(mistake: Diagnostic, shown: Source, units: Units) -> lsp.Diagnostic:
    """What has no place in the shown text stands at its first line."""
    here = mistake.span is not None and mistake.span.source.name == shown.name
    where = (
        range_of(mistake.span, units)
        if here and mistake.span is not None
        else lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    )
    related = [
        lsp.DiagnosticRelatedInformation(
            lsp.Location(uri_of(n.span.source), range_of(n.span, units)), n.message
        )
        for n in mistake.notes
    ]
    text = mistake.message if mistake.hint is None else f"{mistake.message}\nhint: {mistake.hint}"
    return lsp.Diagnostic(
        where, text, SEVERITIES[mistake.severity], source="hbc", related_information=related or None
    )


def completion(word: Word) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        word.name, kind=KINDS[word.kind], detail=word.written, documentation=word.said or None
    )


def code_action(fix: Fix, uri: str, units: Units) -> lsp.CodeAction:
    edit = lsp.TextEdit(range_of(fix.span, units), fix.text)
    return lsp.CodeAction(
        fix.title, lsp.CodeActionKind.QuickFix, edit=lsp.WorkspaceEdit({uri: [edit]})
    )


def edits(spans: Iterable[Span], text: str, units: Units) -> list[lsp.TextEdit]:
    return [lsp.TextEdit(range_of(span, units), text) for span in spans]
