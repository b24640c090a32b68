"""The language server: what an editor asks, answered from `Reading`; over stdin and stdout by pygls.

A keystroke is answered by parsing and checking alone. What only shows when every schedule is compiled
(`hbc check`) is looked for when a file is opened or saved, in a process of its own.
"""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from dataclasses import field
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from hbc.cli.editor import protocol
from hbc.cli.editor.complete import complete
from hbc.cli.editor.fixes import fixes
from hbc.cli.editor.found_right import FoundRight
from hbc.cli.editor.hover import hover
from hbc.cli.editor.reading import Reading
from hbc.cli.editor.rename import rename
from hbc.cli.editor.whole_check import hbc, whole_check
from hbc.cli.files.read_source import is_sketch
from hbc.cli.show.crash import version
from hbc.frontend.sketch.fmt import format_sketch
from hbc.frontend.text.fmt import format_source
from hbc.ir.ground.diag import Diagnostic, HbcError
from hbc.ir.ground.record import mutable
from hbc.ir.ground.source import Source, Span

COMMANDS = {"run": "Run", "bench": "Bench", "explain": "Explain"}
LONGEST_COMMAND = 600  # seconds
IDLE_SECONDS = 1.0  # without a keystroke
MOST_READINGS = 100  # whose garbage waits


@mutable
class Opened:
    """A file in the editor: as it is, as it was when it last parsed, and what `hbc check` said of the
    text `checked`."""

    reading: Reading
    parsed: Reading | None = None
    checked: str = ""
    warnings: list[Diagnostic] = field(default_factory=list)


class Server(LanguageServer):
    """With the files that are open, by their URIs."""

    def __init__(self) -> None:
        super().__init__("hbc", version())
        self.opened: dict[str, Opened] = {}
        self.right = FoundRight()
        self._collection: asyncio.TimerHandle | None = None
        self._readings = 0  # since garbage was collected

    def collect_later(self) -> None:
        """Python's garbage is collected when nothing is typed, or after many readings: between, which is
        when Python would, it takes as long as a reading does."""
        self._readings += 1
        if self._collection is not None and self._readings < MOST_READINGS:
            self._collection.cancel()
        self._collection = asyncio.get_running_loop().call_later(IDLE_SECONDS, self._collect)

    def _collect(self) -> None:
        self._readings = 0
        gc.collect()


def source_of(ls: Server, uri: str) -> Source:
    document = ls.workspace.get_text_document(uri)
    # As long as it was, so that places stay what they are.
    return Source(document.path or uri, document.source.replace("\r\n", " \n"))


def read(ls: Server, uri: str) -> Opened:
    source = source_of(ls, uri)
    now = ls.opened.get(uri)
    if now is None or now.reading.source.text != source.text:
        before = now.parsed if now else None
        reading = Reading(source, ls.right, before)
        ls.collect_later()
        now = Opened(reading, reading if reading.file else before,
                     now.checked if now else "", now.warnings if now else [])  # fmt: skip
        ls.opened[uri] = now
    return now


def publish(ls: Server, uri: str) -> None:
    now = read(ls, uri)
    units = ls.workspace.position_codec
    said = list(now.reading.mistakes)
    if not said and now.checked == now.reading.source.text:
        said = now.warnings
    found = [protocol.diagnostic(d, now.reading.source, units) for d in said]
    ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))


def offset_of(ls: Server, uri: str, at: lsp.Position) -> int:
    return ls.workspace.get_text_document(uri).offset_at_position(at)


def changed(ls: Server, params: lsp.DidChangeTextDocumentParams) -> None:
    publish(ls, params.text_document.uri)


def closed(ls: Server, params: lsp.DidCloseTextDocumentParams) -> None:
    ls.opened.pop(params.text_document.uri, None)


async def was_opened(ls: Server, params: lsp.DidOpenTextDocumentParams) -> None:
    await check_all(ls, params.text_document.uri)


async def saved(ls: Server, params: lsp.DidSaveTextDocumentParams) -> None:
    await check_all(ls, params.text_document.uri)


async def check_all(ls: Server, uri: str) -> None:
    publish(ls, uri)
    reading = read(ls, uri).reading
    if reading.mistakes:
        return
    warnings = await whole_check(reading.source)
    now = ls.opened.get(uri)
    if now is not None:  # it may have been closed, and changed
        now.warnings, now.checked = warnings, reading.source.text
        publish(ls, uri)


def hovered(ls: Server, params: lsp.HoverParams) -> lsp.Hover | None:
    uri = params.text_document.uri
    said = hover(read(ls, uri).reading, offset_of(ls, uri, params.position))
    return None if said is None else lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, said))


def definition(ls: Server, params: lsp.DefinitionParams) -> list[lsp.Location]:
    return locations(ls, params.text_document.uri, params.position, declared_only=True)


def references(ls: Server, params: lsp.ReferenceParams) -> list[lsp.Location]:
    return locations(ls, params.text_document.uri, params.position, declared_only=False)


def locations(ls: Server, uri: str, at: lsp.Position, declared_only: bool) -> list[lsp.Location]:
    reading = read(ls, uri).reading
    name = reading.at(offset_of(ls, uri, at))
    units = ls.workspace.position_codec
    return [
        lsp.Location(
            uri if o.span.source is reading.source else protocol.uri_of(o.span.source),
            protocol.range_of(o.span, units),
        )
        for o in (reading.same(name) if name else ())
        if o.declares or not declared_only
    ]


def renamed(ls: Server, params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
    uri = params.text_document.uri
    try:
        spans = rename(read(ls, uri).reading, offset_of(ls, uri, params.position), params.new_name)
    except HbcError as failure:
        said = failure.diagnostics[0].message
        ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, said))
        return None
    units = ls.workspace.position_codec
    return lsp.WorkspaceEdit({uri: protocol.edits(spans, params.new_name, units)})


def completed(ls: Server, params: lsp.CompletionParams) -> lsp.CompletionList:
    uri = params.text_document.uri
    now = read(ls, uri)
    found = complete(now.reading, now.parsed, offset_of(ls, uri, params.position))
    return lsp.CompletionList(False, [protocol.completion(word) for word in found])


def actions(ls: Server, params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
    uri = params.text_document.uri
    units = ls.workspace.position_codec
    return [
        protocol.code_action(fix, uri, units)
        for mistake in read(ls, uri).reading.mistakes
        for fix in fixes(mistake)
        if touch(protocol.range_of(fix.span, units), params.range)
    ]


def formatted(ls: Server, params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
    source = source_of(ls, params.text_document.uri)
    formatter = format_sketch if is_sketch(Path(source.name)) else format_source
    try:
        after = formatter(source)
    except HbcError:  # it is among the mistakes
        return None
    whole = Span(source, 0, len(source.text))
    return protocol.edits([whole], after, ls.workspace.position_codec)


def lenses(ls: Server, params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
    """Above the file, and above each schedule with that schedule."""
    reading = read(ls, params.text_document.uri).reading
    if reading.pipeline is None:
        return []
    path, units = reading.source.name, ls.workspace.position_codec
    top = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
    places: list[tuple[lsp.Range, list[str]]] = [(top, [path])]
    for s in reading.schedules:
        at = protocol.position(reading.source, s.span.start, units)
        places.append((lsp.Range(at, at), [path, "--schedule", s.name.text]))
    return [
        lsp.CodeLens(where, lsp.Command(title, f"hbc.{name}", arguments=arguments))
        for where, arguments in places
        for name, title in COMMANDS.items()
    ]


FEATURES: dict[str, tuple[Callable[..., Any], object]] = {
    lsp.TEXT_DOCUMENT_DID_CHANGE: (changed, None),
    lsp.TEXT_DOCUMENT_DID_CLOSE: (closed, None),
    lsp.TEXT_DOCUMENT_DID_OPEN: (was_opened, None),
    lsp.TEXT_DOCUMENT_DID_SAVE: (saved, None),
    lsp.TEXT_DOCUMENT_HOVER: (hovered, None),
    lsp.TEXT_DOCUMENT_DEFINITION: (definition, None),
    lsp.TEXT_DOCUMENT_REFERENCES: (references, None),
    lsp.TEXT_DOCUMENT_RENAME: (renamed, None),
    lsp.TEXT_DOCUMENT_COMPLETION: (
        completed,
        lsp.CompletionOptions(trigger_characters=[".", "(", " "]),
    ),
    lsp.TEXT_DOCUMENT_CODE_ACTION: (actions, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix])),
    lsp.TEXT_DOCUMENT_FORMATTING: (formatted, None),
    lsp.TEXT_DOCUMENT_CODE_LENS: (lenses, None),
}
"""What an editor asks, who answers, and what it is told of the answers beforehand."""


def server() -> Server:
    """Ready to `start_io`."""
    ls = Server()
    for asked, (answer, options) in FEATURES.items():
        ls.feature(asked, options)(answer)
    for name in COMMANDS:
        register(ls, name)
    return ls


def register(ls: LanguageServer, name: str) -> None:
    """`hbc.NAME` runs `hbc NAME` with its arguments; what it prints goes to the editor's log."""

    @ls.command(f"hbc.{name}")
    async def execute(*arguments: str) -> str:
        said = "".join(await hbc([name, *arguments], LONGEST_COMMAND)).strip()
        ls.window_log_message(lsp.LogMessageParams(lsp.MessageType.Info, said))
        return said


def touch(one: lsp.Range, other: lsp.Range) -> bool:
    def key(p: lsp.Position) -> tuple[int, int]:
        return p.line, p.character

    return key(one.start) <= key(other.end) and key(other.start) <= key(one.end)
