"""What is judged when texts change faster than that: no clock decides, only what has come in meanwhile."""

from __future__ import annotations

import asyncio
import gc
import threading
from collections.abc import Callable

import pytest

from nmlgen.errors import InputError
from nmlgen.lsp import judging
from nmlgen.lsp.analysis import Analysis
from nmlgen.lsp.documents import Document, Documents
from nmlgen.lsp.judging import Judge


class Slow:
    """A judge's work that waits until it is let go."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.judged: list[str] = []
        self.begun, self.go = threading.Semaphore(0), threading.Semaphore(0)
        monkeypatch.setattr(judging, "analyse", self)

    def __call__(self, document: Document, files: object) -> Analysis:
        self.judged.append(document.source.text)
        self.begun.release()
        self.go.acquire()
        return Analysis(document)


async def arrived(semaphore: threading.Semaphore) -> None:
    await asyncio.to_thread(semaphore.acquire)


@pytest.mark.asyncio
async def test_of_many_changes_the_newest_is_judged(monkeypatch, tmp_path):
    slow, told, documents = Slow(monkeypatch), [], Documents()
    judge = Judge(documents, lambda analysis: told.append(analysis.document.source.text))
    uri = (tmp_path / "NAMELIST_a").as_uri()
    judge.changed(documents.put(uri, "0", 0))
    await arrived(slow.begun)
    for number in range(1, 50):
        judge.changed(documents.put(uri, str(number), number))
    slow.go.release()
    await arrived(slow.begun)
    slow.go.release()
    await judge._task
    assert slow.judged == ["0", "49"]
    assert told == ["49"]  # what was found in a text that has changed meanwhile is not told


@pytest.mark.asyncio
async def test_whoever_asks_gets_what_is_judged_anyway(monkeypatch, tmp_path):
    slow, documents = Slow(monkeypatch), Documents()
    judge = Judge(documents, lambda analysis: None)
    uri = (tmp_path / "NAMELIST_a").as_uri()
    judge.changed(documents.put(uri, "0", 0))
    await arrived(slow.begun)
    asked = asyncio.ensure_future(judge.analysis(uri))
    slow.go.release()
    assert (await asked).document.source.text == "0"
    assert slow.judged == ["0"]
    assert await judge.analysis("untitled:other") is None


@pytest.mark.asyncio
async def test_a_question_that_is_taken_back_stops_nothing(monkeypatch, tmp_path):
    slow, told, documents = Slow(monkeypatch), [], Documents()
    judge = Judge(documents, lambda analysis: told.append(analysis.document.source.text))
    uri = (tmp_path / "NAMELIST_a").as_uri()
    documents.put(uri, "0", 0)
    asked = asyncio.ensure_future(judge.analysis(uri))
    await arrived(slow.begun)
    asked.cancel()
    slow.go.release()
    analysis: Callable[[], object] = lambda: judge._analyses.get(uri)  # noqa: E731
    while analysis() is None:
        await asyncio.sleep(0)
    assert told == ["0"]


@pytest.mark.asyncio
async def test_work_that_fails_after_its_asker_gave_up_is_not_told(tmp_path):
    judge, begun, go, told = Judge(Documents(), lambda analysis: None), threading.Semaphore(0), threading.Event(), []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context))

    def work() -> None:
        begun.release()
        go.wait()
        raise InputError("nothing stands here")

    asked = asyncio.ensure_future(judge.run(work))
    await arrived(begun)
    asked.cancel()
    go.set()
    await judge.run(lambda: None)  # which waits for the first
    gc.collect()
    await asyncio.sleep(0)
    assert told == []


def test_open_texts_are_gathered_once_for_all_that_is_judged(tmp_path):
    """Of a thousand open texts each is judged, and each judgement is given all."""

    class Counted(Documents):
        gathered = 0

        def __iter__(self):
            self.gathered += 1
            return super().__iter__()

    documents = Counted()
    for name in ("a", "b"):
        documents.put((tmp_path / name).as_uri(), name, 0)
    assert [documents.files().read(tmp_path / "b").text for _ in range(3)] == ["b"] * 3
    assert documents.gathered == 1
    documents.put((tmp_path / "b").as_uri(), "c", 1)
    assert documents.files().read(tmp_path / "b").text == "c"
    documents.close((tmp_path / "b").as_uri())
    with pytest.raises(InputError):
        documents.files().read(tmp_path / "b")
