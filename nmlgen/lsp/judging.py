"""When open texts are judged: one after the other, and of a text that changes faster only the newest."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import Callable
from typing import TypeVar

from nmlgen.apart import patience
from nmlgen.files import Files
from nmlgen.lsp.analysis import Analysis, analyse
from nmlgen.lsp.documents import Document, Documents

T = TypeVar("T")


def judged(document: Document, files: Files) -> Analysis:
    """A document, judged without a stop for the collection of garbage, of which there is little."""
    gc.disable()
    try:
        with patience():
            return analyse(document, files)
    finally:
        gc.enable()


class Judge:
    """Judges documents in a thread, so that the editor is always listened to.

    No clock is asked: while one document is judged, changes gather, and then what is newest is judged. What was judged
    of a text that has changed meanwhile is not `told`.
    """

    def __init__(self, documents: Documents, tell: Callable[[Analysis], None]) -> None:
        self._documents = documents
        self._tell = tell
        self._waiting: dict[str, None] = {}
        self._analyses: dict[str, Analysis] = {}
        self._lock = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    def changed(self, document: Document) -> None:
        """A text has another content, or another place in the files: it is to be judged, and all that depend on it."""
        self._wait_for(document.uri)
        for uri, analysis in self._analyses.items():
            if analysis.depends_on(document.path):
                self._wait_for(uri)

    def all_changed(self) -> None:
        """Something on the disk is new: all is to be judged."""
        for document in self._documents:
            self._wait_for(document.uri)

    def forget(self, document: Document) -> None:
        """A text was closed: what is said of it is taken back, and what depends on it is judged by the disk."""
        self._waiting.pop(document.uri, None)
        self._analyses.pop(document.uri, None)
        self.changed(document)

    async def analysis(self, uri: str) -> Analysis | None:
        """What is found in a document as it is now; None if it is not open or nothing for nmlgen."""
        document = self._documents.get(uri)
        if document is None or document.kind is None:
            return None
        known = self._analyses.get(uri)
        if known is not None and known.document is document and uri not in self._waiting:
            return known
        return await asyncio.shield(self._judge(document))  # its result is for others, too, should the asker give up

    async def run(self, work: Callable[[], T]) -> T:
        """Do some other work in the thread, when nothing else is done there."""

        async def alone() -> T:
            async with self._lock:
                return await asyncio.to_thread(work)

        working = asyncio.ensure_future(alone())
        working.add_done_callback(lambda done: done.cancelled() or done.exception())  # also if the asker gave up
        return await asyncio.shield(working)

    def _wait_for(self, uri: str) -> None:
        self._waiting[uri] = None
        if self._task is None or self._task.done():
            self._task = asyncio.ensure_future(self._work())

    async def _work(self) -> None:
        while self._waiting:
            uri = next(iter(self._waiting))
            document = self._documents.get(uri)
            if document is None:
                del self._waiting[uri]
                continue
            await self._judge(document)

    async def _judge(self, document: Document) -> Analysis:
        async with self._lock:
            newest = self._documents.get(document.uri) or document
            known = self._analyses.get(document.uri)
            if known is not None and known.document is newest and document.uri not in self._waiting:
                return known  # judged while this one waited
            self._waiting.pop(document.uri, None)
            files = self._documents.files()
            analysis = await asyncio.to_thread(judged, newest, files)
        if self._documents.get(newest.uri) is newest:
            before, self._analyses[newest.uri] = self._analyses.get(newest.uri), analysis
            if newest.uri not in self._waiting:
                self._tell(analysis)
            del before  # to take it to pieces takes time, too, for which nobody is to wait
        return analysis
