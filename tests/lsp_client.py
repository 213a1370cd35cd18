"""A language server in a process of its own, as an editor has one."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from pygls.protocol import default_converter
from pytest_lsp import ClientServerConfig, LanguageClient
from pytest_lsp.client import DEFAULT_CLIENT_FEATURES, register_lsp_features


class Client(LanguageClient):
    """A client that knows of which version of a document the diagnostics are that it was told."""

    def __init__(self) -> None:
        super().__init__(converter_factory=default_converter)
        self.versions: dict[str, int | None] = {}
        self.told = asyncio.Event()


def make_client() -> Client:
    client = Client()
    published = {types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS: _published}
    register_lsp_features(client, {**DEFAULT_CLIENT_FEATURES, **published})
    return client


def _published(client: Client, params: types.PublishDiagnosticsParams) -> None:
    client.diagnostics[params.uri] = params.diagnostics
    client.versions[params.uri] = params.version
    client.told.set()


class Editor:
    """Documents that are opened, typed into and asked about."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.versions: dict[str, int] = {}

    async def open(self, path: Path, text: str | None = None, uri: str | None = None) -> str:
        """Open a file with a text of its own, or with that of the disk, and wait for what is said of it."""
        uri = uri or path.as_uri()
        content = path.read_text(encoding="utf-8") if text is None else text
        self.versions[uri] = 1
        item = types.TextDocumentItem(uri, "plaintext", 1, content)
        self.client.text_document_did_open(types.DidOpenTextDocumentParams(item))
        await self.judged(uri)
        return uri

    async def type(self, uri: str, text: str) -> None:
        """Give a document another text, and wait for what is said of it."""
        self.change(uri, text)
        await self.judged(uri)

    def change(self, uri: str, text: str) -> None:
        """Give a document another text."""
        self.versions[uri] += 1
        self.client.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.versions[uri], uri),
                [types.TextDocumentContentChangeWholeDocument(text)],
            )
        )

    def close(self, uri: str) -> None:
        """Close a document."""
        self.client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))

    async def judged(self, uri: str, version: int | None = 0) -> None:
        """Wait until the newest text of a document is judged."""
        wanted = self.versions[uri] if version == 0 else version
        await self.until(lambda: self.client.versions.get(uri, -1) == wanted)

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait until what was told is so."""
        while not holds():
            self.client.told.clear()
            await self.client.told.wait()

    def found(self, uri: str, code: str) -> types.Diagnostic:
        """What a rule found, once."""
        (found,) = (one for one in self.client.diagnostics[uri] if one.code == code)
        return found

    def codes(self, uri: str) -> list[str]:
        """The codes of the rules that found something."""
        return [str(found.code) for found in self.client.diagnostics.get(uri, ())]


@pytest_lsp.fixture(
    config=ClientServerConfig(
        server_command=[sys.executable, "-m", "nmlgen", "lsp"],
        client_factory=make_client,
        server_env=dict(os.environ),
    ),
    scope="module",
)
async def client(lsp_client: Client):
    params = types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=Path.cwd().as_uri())
    await lsp_client.initialize_session(params)
    yield
    await lsp_client.shutdown_session()


@pytest.fixture
def editor(client: Client) -> Editor:
    return Editor(client)
