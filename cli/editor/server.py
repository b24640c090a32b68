"""The language server: what an editor asks, answered from `Reading`; over stdin and stdout by pygls.

A keystroke is answered by parsing and checking alone. What only shows when every schedule is compiled
(`hbc check`) is looked for when a file is opened or saved, in a process of its own.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import dataclass, field
from pathlib import Path

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

from hbc.cli.editor import protocol
from hbc.cli.editor.complete import complete
from hbc.cli.editor.fixes import fixes
from hbc.cli.editor.hover import hover
from hbc.cli.editor.reading import Reading
from hbc.cli.editor.rename import rename
from hbc.cli.files.read_source import is_sketch
from hbc.cli.show.crash import version
from hbc.frontend.sketch.fmt import format_sketch
from hbc.frontend.text.fmt import format_source
from hbc.ir.ground.diag import Diagnostic, HbcError, Severity
from hbc.ir.ground.source import Source, Span

COMMANDS = {"run": "Run", "bench": "Bench", "explain": "Explain"}
LONGEST_CHECK = 60  # seconds
LONGEST_COMMAND = 600


@dataclass(slots=True)
class Opened:
    """A file in the editor: as it is, as it was when it last parsed, and what `hbc check` said of the
    text `checked`."""

    reading: Reading
    parsed: Reading | None = None
    checked: str = ""
    warnings: list[Diagnostic] = field(default_factory=list)


def server() -> LanguageServer:
    """Ready to `start_io`."""
    ls = LanguageServer("hbc", version())
    opened: dict[str, Opened] = {}

    def source_of(uri: str) -> Source:
        document = ls.workspace.get_text_document(uri)
        # As long as it was, so that places stay what they are.
        return Source(document.path or uri, document.source.replace("\r\n", " \n"))

    def read(uri: str) -> Opened:
        source = source_of(uri)
        now = opened.get(uri)
        if now is None or now.reading.source.text != source.text:
            reading = Reading(source)
            before = now.parsed if now else None
            now = Opened(reading, reading if reading.file else before,
                         now.checked if now else "", now.warnings if now else [])  # fmt: skip
            opened[uri] = now
        return now

    def publish(uri: str) -> None:
        now = read(uri)
        units = ls.workspace.position_codec
        said = list(now.reading.mistakes)
        if not said and now.checked == now.reading.source.text:
            said = now.warnings
        found = [protocol.diagnostic(d, now.reading.source, units) for d in said]
        ls.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, found))

    def offset_of(uri: str, at: lsp.Position) -> int:
        return ls.workspace.get_text_document(uri).offset_at_position(at)

    @ls.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        publish(params.text_document.uri)

    @ls.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        opened.pop(params.text_document.uri, None)

    @ls.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def was_opened(params: lsp.DidOpenTextDocumentParams) -> None:
        await check_all(params.text_document.uri)

    @ls.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        await check_all(params.text_document.uri)

    async def check_all(uri: str) -> None:
        publish(uri)
        reading = read(uri).reading
        if reading.mistakes:
            return
        warnings = await whole_check(reading.source)
        now = opened.get(uri)
        if now is not None:  # it may have been closed, and changed
            now.warnings, now.checked = warnings, reading.source.text
            publish(uri)

    @ls.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        uri = params.text_document.uri
        said = hover(read(uri).reading, offset_of(uri, params.position))
        return None if said is None else lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, said))

    @ls.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def definition(params: lsp.DefinitionParams) -> list[lsp.Location]:
        return locations(params.text_document.uri, params.position, declared_only=True)

    @ls.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def references(params: lsp.ReferenceParams) -> list[lsp.Location]:
        return locations(params.text_document.uri, params.position, declared_only=False)

    def locations(uri: str, at: lsp.Position, declared_only: bool) -> list[lsp.Location]:
        reading = read(uri).reading
        name = reading.at(offset_of(uri, at))
        units = ls.workspace.position_codec
        return [
            lsp.Location(
                uri if o.span.source is reading.source else protocol.uri_of(o.span.source),
                protocol.range_of(o.span, units),
            )
            for o in (reading.same(name) if name else ())
            if o.declares or not declared_only
        ]

    @ls.feature(lsp.TEXT_DOCUMENT_RENAME)
    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = params.text_document.uri
        try:
            spans = rename(read(uri).reading, offset_of(uri, params.position), params.new_name)
        except HbcError as failure:
            said = failure.diagnostics[0].message
            ls.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Error, said))
            return None
        units = ls.workspace.position_codec
        return lsp.WorkspaceEdit({uri: protocol.edits(spans, params.new_name, units)})

    @ls.feature(
        lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=[".", "(", " "])
    )
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        uri = params.text_document.uri
        now = read(uri)
        found = complete(now.reading, now.parsed, offset_of(uri, params.position))
        return lsp.CompletionList(False, [protocol.completion(word) for word in found])

    @ls.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix]))
    def actions(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        units = ls.workspace.position_codec
        return [
            protocol.code_action(fix, uri, units)
            for mistake in read(uri).reading.mistakes
            for fix in fixes(mistake)
            if touch(protocol.range_of(fix.span, units), params.range)
        ]

    @ls.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit] | None:
        source = source_of(params.text_document.uri)
        formatter = format_sketch if is_sketch(Path(source.name)) else format_source
        try:
            after = formatter(source)
        except HbcError:  # it is among the mistakes
            return None
        whole = Span(source, 0, len(source.text))
        return protocol.edits([whole], after, ls.workspace.position_codec)

    @ls.feature(lsp.TEXT_DOCUMENT_CODE_LENS)
    def lenses(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        """Above the file, and above each schedule with that schedule."""
        reading = read(params.text_document.uri).reading
        if reading.pipeline is None:
            return []
        path, units = reading.source.name, ls.workspace.position_codec
        top = lsp.Range(lsp.Position(0, 0), lsp.Position(0, 0))
        places: list[tuple[lsp.Range, list[str]]] = [(top, [path])]
        for s in reading.pipeline.schedules:
            if s.span is not None and s.span.source is reading.source:
                at = protocol.position(reading.source, s.span.start, units)
                places.append((lsp.Range(at, at), [path, "--schedule", s.name]))
        return [
            lsp.CodeLens(where, lsp.Command(title, f"hbc.{name}", arguments=arguments))
            for where, arguments in places
            for name, title in COMMANDS.items()
        ]

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


async def hbc(arguments: list[str], seconds: float) -> tuple[str, str]:
    """What another hbc prints, on stdout and on stderr. It ends with this one."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "hbc.cli.main", *arguments,
        stdin=asyncio.subprocess.DEVNULL, stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    try:
        out, err = await asyncio.wait_for(child.communicate(), seconds)
    except TimeoutError:
        return "", f"no answer in {seconds:g} s"
    finally:
        if child.returncode is None:
            child.terminate()
    return out.decode(errors="replace"), err.decode(errors="replace")


async def whole_check(source: Source) -> list[Diagnostic]:
    """What `hbc check` says of the file on disk: mistakes that only show when schedules are compiled, and
    what is slow."""
    out, _ = await hbc(["check", "--json", source.name], LONGEST_CHECK)
    try:
        said = json.loads(out)
    except ValueError:
        return []
    return [_diagnostic(d, source) for d in (*said["mistakes"], *said["warnings"])]


def _diagnostic(said: dict[str, str | int | None], source: Source) -> Diagnostic:
    """Notes aside, which the message does not need."""
    span = None
    line, column, length = said["line"], said["column"], said["length"]
    if said["file"] == source.name and isinstance(line, int) and isinstance(column, int):
        lines = source.text.split("\n")
        start = sum(len(part) + 1 for part in lines[: line - 1]) + column - 1
        span = Span(source, start, start + (length if isinstance(length, int) else 1))
    hint = said["hint"]
    return Diagnostic(
        str(said["message"]), span, None if hint is None else str(hint),
        severity=Severity(str(said["severity"])),
    )  # fmt: skip


def touch(one: lsp.Range, other: lsp.Range) -> bool:
    def key(p: lsp.Position) -> tuple[int, int]:
        return p.line, p.character

    return key(one.start) <= key(other.end) and key(other.start) <= key(one.end)
