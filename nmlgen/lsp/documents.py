"""The texts that are open in an editor, which count in place of what lies on the disk."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from nmlgen.disk import MOST_BYTES
from nmlgen.files import Files
from nmlgen.lift.targets import kind_of as kind_of_run_file
from nmlgen.source import Source
from nmlgen.values import frozen

_NOT_IN_A_NAME = re.compile(r"[\x00-\x1f/]")
_SPEC = re.compile(r"^(?:nmlgen|extends|site|model|models)[ \t]*:", re.MULTILINE)
_SITE = re.compile(r"^machine[ \t]*:", re.MULTILINE)
_OWN_TABLE = re.compile(r"^[ \t]*\[+[ \t]*tool[ \t]*\.[ \t]*nmlgen\b", re.MULTILINE)


@frozen(eq=False)
class Document:
    """An open text: the `uri` by which the editor knows it, the `path` by which other files do, and its `version`.

    `kind` is "spec", "site", "script", "namelist", "config" (of mkexp) or "project" (nmlgen.toml and pyproject.toml);
    None for a text that nmlgen has nothing to say about.
    """

    uri: str
    path: Path
    version: int | None
    source: Source
    kind: str | None


class Documents:
    """All open texts by their URIs."""

    def __init__(self) -> None:
        self._open: dict[str, Document] = {}
        self._texts: dict[Path, str] | None = None  # of all that are open, where they were asked for since they changed

    def __iter__(self) -> Iterator[Document]:
        return iter(list(self._open.values()))

    def get(self, uri: str) -> Document | None:
        """The open text of a URI."""
        return self._open.get(uri)

    def put(self, uri: str, text: str, version: int | None) -> Document:
        """Open a text, or give an open one another."""
        path = path_of(uri)
        source = Source(str(path), text)
        document = Document(uri, path, version, source, kind_of(path, source))
        self._open[uri] = document
        self._texts = None
        return document

    def close(self, uri: str) -> Document | None:
        """Forget a text; what lies on the disk counts again."""
        self._texts = None
        return self._open.pop(uri, None)

    def at(self, path: Path) -> Document | None:
        """The open text of a file, by its resolved path."""
        return next((document for document in self if document.path == path), None)

    def files(self) -> Files:
        """The files as they would be if all were saved."""
        if self._texts is None:
            self._texts = {document.path: document.source.text for document in self}
        return Files(self._texts)


def path_of(uri: str) -> Path:
    """The resolved path of a file; for a text that is in no file yet one in the working directory that has its name."""
    try:
        parts = urlsplit(uri)
        name = unquote(parts.path)
    except ValueError:
        return Path.cwd() / "untitled"
    if parts.scheme == "file" and name.startswith("/") and "\0" not in name:
        return Path(os.path.realpath(name))
    return Path.cwd() / (_NOT_IN_A_NAME.sub("_", name.rpartition("/")[2])[:100] or "untitled")


def kind_of(path: Path, source: Source) -> str | None:
    """What a text is, by the name of its file and by what is in it; nothing, if it is larger than any file may be."""
    if len(source.text) > MOST_BYTES:
        return None
    if path.name == "nmlgen.toml":
        return "project"
    if path.name == "pyproject.toml":
        return "project" if _OWN_TABLE.search(source.text) else None
    if path.suffix.lower() in (".yaml", ".yml"):
        if _SITE.search(source.text):
            return "site"
        return "spec" if _SPEC.search(source.text) else None
    return kind_of_run_file(path, source)
