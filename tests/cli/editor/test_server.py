"""Drives `hbc lsp` as an editor does: a client of its own, over stdin and stdout."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

pytest.importorskip("pygls", reason="the language server needs pygls")

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

LIBRARY = "def twice(x) = x + x\n"
KERNEL = """import "own.hb"
size N
input  A: f32[N]
output C: f32[N]
F[i] = twice(A[i]) # \N{GRINNING FACE}
C[i] = sqrt(F[i])
schedule fast for c { C.unroll(i, 4) }
example { N = 8; A = random(1) }
"""
WAIT = 60.0


class Editor:
    """A client with one file open."""

    def __init__(self, client: LanguageClient, path: Path) -> None:
        self.client, self.uri, self.version = client, path.as_uri(), 1
        self.published: asyncio.Queue[lsp.PublishDiagnosticsParams] = asyncio.Queue()
        client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(
            lambda params: self.published.put_nowait(params)
        )
        client.feature(lsp.WINDOW_LOG_MESSAGE)(lambda params: None)
        client.feature(lsp.WINDOW_SHOW_MESSAGE)(lambda params: None)

    async def mistakes(self) -> list[lsp.Diagnostic]:
        return list((await asyncio.wait_for(self.published.get(), WAIT)).diagnostics)

    def change(self, text: str) -> None:
        self.version += 1
        document = lsp.VersionedTextDocumentIdentifier(self.version, self.uri)
        whole = [lsp.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, whole))

    def at(self, line: int, character: int) -> tuple[lsp.TextDocumentIdentifier, lsp.Position]:
        return lsp.TextDocumentIdentifier(self.uri), lsp.Position(line, character)


def drive(folder: Path, what: Callable[[Editor], Awaitable[None]], text: str = KERNEL) -> None:
    """Starts the server on a file of that text, does `what`, and ends it as the protocol says."""
    path = folder / "own kernel.hb"
    path.write_text(text, encoding="utf-8")
    (folder / "own.hb").write_text(LIBRARY)

    async def session() -> None:
        client = LanguageClient("tests", "1")
        editor = Editor(client, path)
        await client.start_io(sys.executable, "-m", "hbc.cli.main", "lsp")
        made = await client.initialize_async(lsp.InitializeParams(lsp.ClientCapabilities()))
        assert made.capabilities.rename_provider and made.capabilities.hover_provider
        client.initialized(lsp.InitializedParams())
        client.text_document_did_open(
            lsp.DidOpenTextDocumentParams(lsp.TextDocumentItem(editor.uri, "hbc", 1, text))
        )
        try:
            await what(editor)
        finally:
            await asyncio.wait_for(client.shutdown_async(None), WAIT)
            client.exit(None)
            await asyncio.wait_for(client.stop(), WAIT)

    asyncio.run(session())


def test_mistakes_as_one_types(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        assert await editor.mistakes() == []
        editor.change(KERNEL.replace("sqrt", "sqrd"))
        while not (found := await editor.mistakes()):
            pass
        (mistake,) = found
        assert "sqrd" in mistake.message and "did you mean `sqrt`" in mistake.message
        assert (mistake.range.start.line, mistake.range.start.character) == (5, 7)
        fixes = await editor.client.text_document_code_action_async(
            lsp.CodeActionParams(
                lsp.TextDocumentIdentifier(editor.uri), mistake.range, lsp.CodeActionContext([])
            )
        )
        (fix,) = fixes or []
        assert isinstance(fix, lsp.CodeAction) and fix.edit and fix.edit.changes
        (edit,) = fix.edit.changes[editor.uri]
        assert edit.new_text == "sqrt"
        editor.change(KERNEL[:-30])  # half a file
        assert await editor.mistakes()
        editor.change(KERNEL)
        while await editor.mistakes():
            pass

    drive(tmp_path, session)


def test_names_and_loops(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        client = editor.client
        hovered = await client.text_document_hover_async(lsp.HoverParams(*editor.at(5, 12)))
        assert hovered and "Func F: f32[i]" in str(hovered.contents)
        found = await client.text_document_definition_async(lsp.DefinitionParams(*editor.at(4, 8)))
        assert isinstance(found, list) and len(found) == 1  # of an imported function
        assert isinstance(found[0], lsp.Location) and found[0].uri.endswith("/own.hb")
        places = await client.text_document_references_async(
            lsp.ReferenceParams(lsp.ReferenceContext(True), *editor.at(5, 12))
        )
        assert [p.range.start.line for p in places or []] == [4, 5]
        renamed = await client.text_document_rename_async(
            lsp.RenameParams(*editor.at(5, 12), new_name="blurred")
        )
        assert renamed and renamed.changes
        assert [e.range.start.line for e in renamed.changes[editor.uri]] == [4, 5]
        refused = await client.text_document_rename_async(
            lsp.RenameParams(*editor.at(5, 12), new_name="A")
        )
        assert refused is None

    drive(tmp_path, session)


def test_completion_formatting_and_lenses(tmp_path: Path) -> None:
    async def session(editor: Editor) -> None:
        client = editor.client
        offered = await client.text_document_completion_async(
            lsp.CompletionParams(*editor.at(6, KERNEL.splitlines()[6].index(".") + 1))
        )
        assert isinstance(offered, lsp.CompletionList)
        split = next(item for item in offered.items if item.label == "split")
        assert split.detail == ".split(i, io, ii, 8)" and split.documentation
        lenses = await client.text_document_code_lens_async(
            lsp.CodeLensParams(lsp.TextDocumentIdentifier(editor.uri))
        )
        assert [
            (one.range.start.line, one.command.title) for one in lenses or [] if one.command
        ] == [(line, title) for line in (0, 6) for title in ("Run", "Bench", "Explain")]
        explain = next(
            one.command for one in lenses or [] if one.command and one.command.title == "Explain"
        )
        said = await asyncio.wait_for(
            client.workspace_execute_command_async(
                lsp.ExecuteCommandParams(explain.command, explain.arguments)
            ),
            WAIT,
        )
        assert "own kernel" in str(said) or "own_kernel" in str(said)
        edits = await client.text_document_formatting_async(
            lsp.DocumentFormattingParams(
                lsp.TextDocumentIdentifier(editor.uri), lsp.FormattingOptions(4, True)
            )
        )
        (edit,) = edits or []
        assert "size   N\n" in edit.new_text and "\n\n" not in edit.new_text

    drive(tmp_path, session)


def test_what_is_slow_is_a_warning(tmp_path: Path) -> None:
    """Found by compiling the schedules, when a file is opened."""
    slow = """size N
input A: f32[N]
output C: f32[N]
F[i] = A[i]
F[i] += 1
C[i] = F[i]
schedule fast for avx2 {
    C.vectorize(i, 8)
    F.compute_root().vectorize(i, 8)
}
"""

    async def session(editor: Editor) -> None:
        found: list[lsp.Diagnostic] = []
        while not found:
            found = await editor.mistakes()
        assert {d.severity for d in found} == {lsp.DiagnosticSeverity.Warning}

    drive(tmp_path, session, slow)


def test_a_keystroke_is_answered_at_once(tmp_path: Path) -> None:
    """In a file of 200 lines; the least of some, because others use this machine."""
    lines = [f"g{n}[i] = g{n - 1}[i] * {n} + A[i]" for n in range(1, 190)]
    text = "size N\ninput A: f32[N]\noutput C: f32[N]\ng0[i] = A[i]\n" + "\n".join(lines)
    text += "\nC[i] = g189[i]\n"

    async def session(editor: Editor) -> None:
        while await editor.mistakes():
            pass
        taken = []
        for n in range(5):
            start = time.perf_counter()
            editor.change(text.replace("g189[i]\n", f"g189[i] + {n} + z\n"))
            while not await editor.mistakes():
                pass
            taken.append(time.perf_counter() - start)
        print(f"a keystroke takes {min(taken) * 1e3:.0f} ms")
        assert min(taken) < 2  # an order of magnitude above what it takes on a quiet machine

    drive(tmp_path, session, text)
