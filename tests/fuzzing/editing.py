"""An editor that types all kinds of texts into the language server's documents, asks about places in them and beyond,
and sends what is no message: each message is answered, or refused, within the limits."""

from __future__ import annotations

import contextlib
import json
import os
import random
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzzing.cases import Case
from fuzzing.crossed import crossed_configurations, crossed_sites, crossed_specs
from fuzzing.hostile import STRINGS
from fuzzing.limited import MEMORY, Ended
from fuzzing.spliced import spliced_namelists, spliced_scripts

_REFUSALS = (-32600, -32601, -32602, -32700, -32803)
"""Answers that say what was wrong with a request, as the protocol numbers them; all others are mistakes."""
_REQUESTS = (
    *("hover", "completion", "definition", "codeAction", "documentSymbol", "prepareRename", "rename"),
    *("hover", "completion", "definition", "foldingRange"),
)


class Session:
    """A server that is spoken to, one message after the other."""

    def __init__(self, directory: Path) -> None:
        self.errors = directory / "errors"
        with self.errors.open("wb") as errors:
            self.server = subprocess.Popen(
                [sys.executable, "-m", "nmlgen", "lsp"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=directory,
                env={"PATH": "/nowhere", "PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "LC_ALL": "C.UTF-8"},
            )
        self._number = 0
        self._rest = b""
        self.ask("initialize", {"processId": None, "rootUri": directory.as_uri(), "capabilities": {}})
        self.tell("initialized", {})

    def tell(self, method: str, params: Any) -> None:
        """Send a message that has no answer."""
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def send(self, body: bytes) -> None:
        """Send a message as it is."""
        assert self.server.stdin is not None
        self.server.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.server.stdin.flush()

    def ask(self, method: str, params: Any, cpu: int | None = None) -> dict[str, Any] | None:
        """The answer to a request; None if the server ended, or took more than `cpu` seconds and was ended."""
        self._number += 1
        asked = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params}
        self.send(json.dumps(asked).encode())
        began = self.cpu()
        while (message := self._message(began, cpu)) is not None:
            if message.get("id") == self._number and "method" not in message:
                return message
        return None

    def _message(self, began: float, cpu: int | None) -> dict[str, Any] | None:
        while True:
            head, mark, rest = self._rest.partition(b"\r\n\r\n")
            if mark:
                length = int(head.lower().partition(b"content-length:")[2].split()[0])
                if len(rest) >= length:
                    self._rest = rest[length:]
                    found: dict[str, Any] = json.loads(rest[:length])
                    return found
            assert self.server.stdout is not None
            if cpu is not None and not select.select([self.server.stdout], [], [], 1)[0]:
                if self.cpu() - began > cpu:
                    self.server.kill()
                    return None
                continue
            if not (more := os.read(self.server.stdout.fileno(), 1 << 20)):
                return None
            self._rest += more

    def cpu(self) -> float:
        """The CPU in s that the server has had until now."""
        try:
            fields = Path(f"/proc/{self.server.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def peak(self) -> int:
        """The largest resident memory that the server has had, in bytes."""
        try:
            lines = Path(f"/proc/{self.server.pid}/status").read_text().splitlines()
        except OSError:
            return 0
        return 1024 * next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)

    def close(self) -> int:
        """End the server as an editor does; its exit code."""
        if self.server.poll() is None:
            with contextlib.suppress(BrokenPipeError):
                self.ask("shutdown", None)
                self.tell("exit", None)
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it ended already
            self.server.stdin.close()
        self.server.stdout.close()
        return self.server.wait()


def texts(pick: random.Random) -> Iterator[tuple[str, str]]:
    """Names of documents, with what is typed into them."""
    makers = (
        (crossed_specs(pick), "spec.yaml"),
        (crossed_sites(pick), "site.yaml"),
        (crossed_configurations(pick), "nmlgen.toml"),
        (spliced_scripts(pick), "exp.run"),
        (spliced_namelists(pick), "run/NAMELIST"),
    )
    while True:
        cases, start = pick.choice(makers)
        found = next((item for item in next(cases).files.items() if item[0].startswith(start)), None)
        if found is not None:
            name, data = found
            yield name.rpartition("/")[2], data.decode("utf-8", "replace")[:100_000]


def ends(seed: object, count: int, directory: Path, cpu: int | None = None) -> Iterator[tuple[Case, list[Ended]]]:
    """So many documents, each with how the requests about it ended: what all of them took, and what went wrong."""
    pick = random.Random(f"editor {seed}")
    made = texts(pick)
    directory.mkdir(parents=True, exist_ok=True)
    session = Session(directory)
    for _ in range(count):
        name, text = next(made)
        wrong, began = "", session.cpu()
        for end in _edited(session, pick, directory, name, text, next(made)[1], cpu):
            wrong += end
        stopped = session.server.poll()
        peak = session.peak()
        if peak > MEMORY:
            wrong += "MemoryError"
        code = 0 if stopped is None else stopped
        case = Case({name: text.encode("utf-8", "replace")}, (("lsp",),))
        yield (
            case,
            [Ended(("lsp",), code, wrong, session.errors.read_text(errors="replace"), session.cpu() - began, peak)],
        )
        if stopped is not None or wrong or session.errors.stat().st_size:
            session.close()
            session = Session(directory)
    session.close()


def _edited(
    session: Session, pick: random.Random, directory: Path, name: str, text: str, other: str, cpu: int | None
) -> Iterator[str]:
    """Open a document, ask about it, change it, ask again, close it; what is wrong with the answers."""
    uri = pick.choice(((directory / name).as_uri(),) * 9 + ("untitled:a", f"file:///%00/{name}", f"file:{name}"))
    document = {"uri": uri, "languageId": "yaml", "version": 1, "text": text}
    session.tell("textDocument/didOpen", {"textDocument": document})
    for version, shown in enumerate((text, pick.choice((other, text[: len(text) // 2], text + text[:3000])))):
        if version:
            identity = {"uri": uri, "version": version + 1}
            session.tell("textDocument/didChange", {"textDocument": identity, "contentChanges": [{"text": shown}]})
        for _ in range(pick.choice((1, 3, 5))):
            if session.server.poll() is not None:
                return
            if pick.random() < 0.04:
                session.send(
                    pick.choice((b"{", b"[]", b"7", b'{"id": 1}', b'{"jsonrpc": "2.0", "method": 7}', b"\xff"))
                )
            method, params = _request(pick, uri, shown)
            answer = session.ask(f"textDocument/{method}", params, cpu)
            if answer is None:
                yield f"Traceback (most recent call last)\nno answer to {method}: the server ended, or took too long\n"
                return
            error = answer.get("error")
            if error is not None and error.get("code") not in _REFUSALS:
                told = f"{method} {json.dumps(params)[:300]}\n{json.dumps(error)[:3000]}"
                yield f"Traceback (most recent call last)\n{told}\n"
    session.tell("textDocument/didClose", {"textDocument": {"uri": uri}})


def _request(pick: random.Random, uri: str, text: str) -> tuple[str, dict[str, Any]]:
    method = pick.choice(_REQUESTS)
    params: dict[str, Any] = {"textDocument": {"uri": uri}, "position": _position(pick, text)}
    if method == "codeAction":
        params |= {
            "range": {"start": _position(pick, text), "end": _position(pick, text)},
            "context": {"diagnostics": [], **({"only": ["source.fixAll"]} if pick.random() < 0.3 else {})},
        }
    if method == "rename":
        params["newName"] = pick.choice((*STRINGS, "a", "atm2"))
    return method, params


def _position(pick: random.Random, text: str) -> dict[str, int]:
    """A place in a text, now and then one that is not there."""
    if pick.random() < 0.1:
        return {"line": pick.choice((0, 10**6, 2**31 - 1)), "character": pick.choice((0, 10**6, 2**31 - 1))}
    lines = text.split("\n")
    line = pick.randrange(len(lines))
    return {"line": line, "character": pick.randrange(len(lines[line]) + 2)}
