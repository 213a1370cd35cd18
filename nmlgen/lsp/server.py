"""The server itself: what an editor asks, answered from the open documents."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from typing import Any, BinaryIO, TypeVar, cast

from lsprotocol import types
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol

from nmlgen._version import __version__
from nmlgen.errors import InputError
from nmlgen.files import Files
from nmlgen.lsp.analysis import Analysis
from nmlgen.lsp.completion import TRIGGERS, completions_at
from nmlgen.lsp.definition import definitions_at
from nmlgen.lsp.diagnostics import FIX_ALL, actions_at, diagnostics_of
from nmlgen.lsp.documents import Document, Documents
from nmlgen.lsp.hover import hover_at
from nmlgen.lsp.judging import Judge
from nmlgen.lsp.positions import Positions
from nmlgen.lsp.renaming import renamed, stream_at
from nmlgen.lsp.symbols import symbols_of
from nmlgen.spec.spec import Spec

T = TypeVar("T")

_REQUEST_FAILED = -32803


class RequestFailed(JsonRpcException):
    """A request that makes sense, and cannot be fulfilled; the editor shows the reason."""

    CODE = _REQUEST_FAILED
    MESSAGE = "request failed"


class _Protocol(LanguageServerProtocol):
    """The protocol as pygls speaks it, which says nothing to a request whose parameters it cannot read."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], None, error.to_response_error())
            raise


class Server(LanguageServer):
    """A language server for specs, sites, run scripts, namelists, configurations of mkexp and of projects."""

    def __init__(self) -> None:
        super().__init__(
            "nmlgen",
            __version__,
            text_document_sync_kind=types.TextDocumentSyncKind.Full,
            protocol_cls=_Protocol,
        )
        self.documents = Documents()
        self.judge = Judge(self.documents, self._publish)
        self.is_shut_down = False
        self._specs: dict[str, Spec] = {}

    @property
    def encoding(self) -> str:
        """The encoding whose units columns count, as agreed with the editor."""
        return str(getattr(self.workspace.position_encoding, "value", self.workspace.position_encoding) or "utf-16")

    def report_server_error(self, error: Exception, source: object) -> None:
        """What an editor sends that makes no sense is noted; nobody at the editor can do anything about it."""
        logging.getLogger(__name__).warning("%s: %s", source, error)

    def spec(self, analysis: Analysis) -> Spec | None:
        """A spec as it is, or as it was when it last could be loaded."""
        return self._specs.get(analysis.document.uri)

    def forget(self, document: Document) -> None:
        """A text was closed: nothing is said of it any more."""
        self._specs.pop(document.uri, None)
        self.judge.forget(document)
        self.text_document_publish_diagnostics(types.PublishDiagnosticsParams(document.uri, []))

    def _publish(self, analysis: Analysis) -> None:
        document = analysis.document
        if analysis.spec is not None:
            self._specs[document.uri] = analysis.spec
        found = diagnostics_of(analysis, self.encoding)
        self.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(document.uri, found, version=document.version)
        )

    async def ask(self, uri: str, work: Callable[[Analysis, Files], T], otherwise: T) -> T:
        """The answer of some work about a document; `otherwise` for one that nmlgen says nothing of."""
        analysis = await self.judge.analysis(uri)
        if analysis is None:
            return otherwise
        return await self.judge.run(lambda: work(analysis, self.documents.files()))


_LONGEST = 64_000_000  # bytes of one message; what it is said to hold is made room for before it comes
_LONGEST_HEADER = 4000  # bytes; a length of more digits would be no number to Python


class _Input:
    """The standard input, which is over where a message is longer than any editor's."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def readline(self) -> bytes:
        return self._stream.readline(_LONGEST_HEADER)

    def read(self, size: int = -1) -> bytes:
        return self._stream.read(size) if size <= _LONGEST else b""


def serve() -> int:
    """Answer an editor through standard input and output until it says that it is done; returns the exit code."""
    _be_silent()
    server = make_server()
    stdin, stdout = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # nothing but the protocol may go there
    server.start_io(cast(BinaryIO, _Input(stdin)), stdout)
    return 0 if server.is_shut_down else 1


def _be_silent() -> None:
    """No word of pygls on what an editor sends that makes no sense: nobody would see it but in a log."""
    for name in ("pygls", "nmlgen"):
        logging.getLogger(name).addHandler(logging.NullHandler())
        logging.getLogger(name).propagate = False


def make_server() -> Server:
    """A server with all that it answers."""
    server = Server()

    @server.feature(types.SHUTDOWN)
    def shut_down(params: None) -> None:
        server.is_shut_down = True

    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        server.judge.changed(server.documents.put(item.uri, item.text, item.version))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: types.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        if server.documents.get(uri) is not None:
            text = server.workspace.get_text_document(uri).source
            server.judge.changed(server.documents.put(uri, text, params.text_document.version))

    @server.feature(types.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: types.DidSaveTextDocumentParams) -> None:
        server.judge.all_changed()

    @server.feature(types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: types.DidChangeWatchedFilesParams) -> None:
        server.judge.all_changed()

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        document = server.documents.close(params.text_document.uri)
        if document is not None:
            server.forget(document)

    @server.feature(types.TEXT_DOCUMENT_HOVER)
    async def hover(params: types.HoverParams) -> types.Hover | None:
        def work(analysis: Analysis, files: Files) -> types.Hover | None:
            return hover_at(analysis, files, params.position, server.encoding, server.spec(analysis))

        return await server.ask(params.text_document.uri, work, None)

    @server.feature(
        types.TEXT_DOCUMENT_COMPLETION, types.CompletionOptions(trigger_characters=TRIGGERS, resolve_provider=False)
    )
    async def completion(params: types.CompletionParams) -> types.CompletionList | None:
        document = server.documents.get(params.text_document.uri)
        if document is None or document.kind is None:
            return None
        spec = server._specs.get(document.uri)
        return await server.judge.run(
            lambda: completions_at(document, server.documents.files(), params.position, server.encoding, spec)
        )

    @server.feature(
        types.TEXT_DOCUMENT_CODE_ACTION,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix, FIX_ALL]),
    )
    async def actions(params: types.CodeActionParams) -> list[types.CodeAction]:
        def work(analysis: Analysis, files: Files) -> list[types.CodeAction]:
            return actions_at(analysis, params.range, params.context.only, server.encoding)

        return await server.ask(params.text_document.uri, work, [])

    @server.feature(types.TEXT_DOCUMENT_DEFINITION)
    async def definition(params: types.DefinitionParams) -> list[types.Location]:
        def work(analysis: Analysis, files: Files) -> list[types.Location]:
            return definitions_at(analysis, files, params.position, server.encoding, server.spec(analysis))

        return await server.ask(params.text_document.uri, work, [])

    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    async def symbols(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        document = server.documents.get(params.text_document.uri)
        if document is None or document.kind is None:
            return []
        return await server.judge.run(lambda: symbols_of(document, server.encoding))

    @server.feature(types.TEXT_DOCUMENT_PREPARE_RENAME)
    async def prepare_rename(params: types.PrepareRenameParams) -> types.Range | None:
        document = server.documents.get(params.text_document.uri)
        if document is None:
            return None
        positions = Positions(document.source, server.encoding)
        found = stream_at(document, positions.offset(params.position))
        return None if found is None else positions.between(*found)

    @server.feature(types.TEXT_DOCUMENT_RENAME, types.RenameOptions(prepare_provider=True))
    async def rename(params: types.RenameParams) -> types.WorkspaceEdit | None:
        def work(analysis: Analysis, files: Files) -> types.WorkspaceEdit | None:
            document = analysis.document
            offset = Positions(document.source, server.encoding).offset(params.position)
            return renamed(document, offset, params.new_name, server.encoding, server.spec(analysis))

        try:
            return await server.ask(params.text_document.uri, work, None)
        except InputError as error:
            raise RequestFailed(str(error)) from None

    return server
