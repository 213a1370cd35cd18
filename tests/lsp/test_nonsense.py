"""A client that sends nonsense gets an error or nothing, and the next one an answer."""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
import threading

import pytest

URI = "file:///nowhere/NAMELIST_a"


def framed(message: object) -> bytes:
    body = json.dumps(message).encode()
    return f"Content-Length: {len(body)}\r\n\r\n".encode() + body


def call(number: object, method: str, **params: object) -> bytes:
    return framed({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


def note(method: str, **params: object) -> bytes:
    return framed({"jsonrpc": "2.0", "method": method, "params": params})


def document(uri: object = URI, text: object = "&run_nml\n/\n") -> dict[str, object]:
    return {"uri": uri, "languageId": "x", "version": 1, "text": text}


def at(line: object, character: object, uri: object = URI) -> dict[str, object]:
    return {"textDocument": {"uri": uri}, "position": {"line": line, "character": character}}


BEGINNING = call(1, "initialize", processId=None, rootUri=None, capabilities={}) + note("initialized")
ENDING = call(2, "shutdown") + note("exit")
OPENED = note("textDocument/didOpen", textDocument=document())

NONSENSE = {
    "no header": b"hello\r\n\r\n",
    "no JSON": b"Content-Length: 5\r\n\r\n{{{{{",
    "no text": b"Content-Length: 2\r\n\r\n\xff\xfe",
    "a length that is none": b"Content-Length: -3\r\n\r\n",
    "no length": b"Content-Length: 0\r\n\r\n",
    "a list": framed([1, 2]),
    "a number": framed(7),
    "no version": framed({"id": 1, "method": "shutdown"}),
    "another version": framed({"jsonrpc": "1.0", "id": 1, "method": "shutdown"}),
    "deep": framed(json.loads("[" * 400 + "]" * 400)),
    "deeper than can be read": b"Content-Length: 200000\r\n\r\n" + b"[" * 100_000 + b"]" * 100_000,
    "an unknown request": call(7, "textDocument/nothing"),
    "an unknown note": note("$/nothing"),
    "an answer to nothing": framed({"jsonrpc": "2.0", "id": 99, "result": None}),
    "an error of nothing": framed({"jsonrpc": "2.0", "id": 99, "error": {"code": 1, "message": "x"}}),
    "taking back nothing": note("$/cancelRequest", id=1234),
    "no parameters": framed({"jsonrpc": "2.0", "id": 8, "method": "textDocument/hover"}),
    "wrong parameters": call(9, "textDocument/hover", textDocument=3),
    "a place before the text": OPENED + call(10, "textDocument/hover", **at(-1, -1)),
    "a place behind the text": OPENED + call(11, "textDocument/hover", **at(10**9, 10**9)),
    "a place that is no number": OPENED + call(12, "textDocument/hover", **at("a", None)),
    "a document that is not open": call(13, "textDocument/completion", **at(0, 0, "file:///other")),
    "a change of what is not open": note(
        "textDocument/didChange",
        textDocument={"uri": "file:///other", "version": 2},
        contentChanges=[{"text": "x"}],
    ),
    "closing what is not open": note("textDocument/didClose", textDocument={"uri": "file:///other"}),
    "a range that is turned round": OPENED
    + note(
        "textDocument/didChange",
        textDocument={"uri": URI, "version": 2},
        contentChanges=[
            {"range": {"start": {"line": 9, "character": 9}, "end": {"line": 0, "character": 0}}, "text": "x"}
        ],
    ),
    "no name": note("textDocument/didOpen", textDocument=document("")),
    "a name that is none": note("textDocument/didOpen", textDocument=document("file:///%00/NAMELIST_\ud800")),
    "half a character": note("textDocument/didOpen", textDocument=document(text="&run_nml\n a = '\ud800'\n/\n")),
    "a control character": note("textDocument/didOpen", textDocument=document("untitled:a.yaml", "site: \0\x07\n")),
    "a rename of nothing": OPENED + call(14, "textDocument/rename", newName="\0", **at(0, 0)),
    "initialize again": call(15, "initialize", processId=None, rootUri=None, capabilities={}),
    "a command": call(16, "workspace/executeCommand", command="rm", arguments=["-rf"]),
}


def answers(sent: bytes, last: str | None = "last") -> tuple[list[dict[str, object]], int, str]:
    """What the server says to all that is sent, up to the answer to the `last` question, after which it is told to end;
    its exit code, and what it writes to the standard error."""
    command = [sys.executable, "-m", "nmlgen", "lsp"]
    said: list[dict[str, object]] = []
    with (
        tempfile.TemporaryFile() as errors,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors) as server,
    ):
        assert server.stdin is not None
        assert server.stdout is not None
        writing = threading.Thread(target=lambda: (server.stdin.write(sent), server.stdin.flush()))
        writing.start()
        while last is not None and not any(one.get("id") == last for one in said):
            header = server.stdout.readline()
            if not header:
                break
            length = int(header.partition(b":")[2])
            while server.stdout.readline().strip():
                pass
            said.append(json.loads(server.stdout.read(length)))
        writing.join()
        if last is not None:
            server.stdin.write(ENDING)
        server.stdin.close()
        server.stdout.read()
        code = server.wait()
        errors.seek(0)
        return said, code, errors.read().decode()


def test_all_of_it_and_then_a_question():
    everything = b"".join(NONSENSE.values())
    right = note("textDocument/didOpen", textDocument=document("file:///nowhere/NAMELIST_b"))
    question = call("last", "textDocument/hover", **at(0, 3, "file:///nowhere/NAMELIST_b"))
    said, code, errors = answers(BEGINNING + everything + right + question)
    by_id = {one["id"]: one for one in said if "id" in one}
    assert "run_nml" in by_id["last"]["result"]["contents"]["value"]
    assert "error" in by_id[7]
    assert [by_id[number]["error"]["code"] for number in (9, 10, 12)] == [-32602] * 3  # invalid parameters
    assert by_id[11]["result"] is None
    assert code == 0
    assert "Traceback" not in errors


@pytest.mark.parametrize("seed", range(3))
def test_bytes_by_chance(seed):
    chance = random.Random(seed)
    pieces = [BEGINNING, OPENED]
    for _ in range(40):
        piece = bytearray(chance.choice(list(NONSENSE.values()))[:400])
        for _ in range(chance.randrange(4)):
            if piece:
                piece[chance.randrange(len(piece))] = chance.randrange(256)
        body = bytes(piece.partition(b"\r\n\r\n")[2])
        pieces.append(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
    said, _, errors = answers(b"".join([*pieces, call("last", "textDocument/documentSymbol", **at(0, 0))]))
    assert any(one.get("id") == "last" for one in said)
    assert "Traceback" not in errors


def test_an_editor_that_is_gone():
    _, code, errors = answers(BEGINNING + OPENED, None)
    assert code == 1
    assert errors == ""


@pytest.mark.parametrize("digits", [b"99999999999", b"9" * 5000])
def test_a_message_longer_than_any(digits):
    _, code, errors = answers(BEGINNING + b"Content-Length: " + digits + b"\r\n\r\n{}", last=None)
    assert code == 1
    assert "Traceback" not in errors
    assert "mistake" not in errors
