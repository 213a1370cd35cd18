"""The site, built once for all tests, and a server for it that others cannot reach."""

from __future__ import annotations

import fcntl
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent


def built_site(directory: Path) -> Path:
    """The site below a directory; whoever comes first builds it, and the others wait."""
    site, extra = directory / "site", directory / "extra"
    with (directory / "site.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (directory / "built").exists():
            _run(sys.executable, ROOT / "docs" / "playground" / "make.py", extra)
            sphinx = (sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-d", directory / "doctrees")
            _run(*sphinx, "-D", f"html_extra_path={extra}", ROOT / "docs", site)
            (directory / "built").touch()
    return site


def _run(*command: str | Path) -> None:
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


class _Handler(SimpleHTTPRequestHandler):
    extensions_map = {**SimpleHTTPRequestHandler.extensions_map, ".wasm": "application/wasm"}  # noqa: RUF012

    def end_headers(self) -> None:
        """Let no page, and no worker of one, ask anybody else: the browser refuses, and its console tells."""
        self.send_header("Content-Security-Policy", "default-src 'self' 'unsafe-inline' 'unsafe-eval' data: blob:")
        super().end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextmanager
def served(directory: Path) -> Iterator[str]:
    """The address of a directory, as long as the context lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, directory=str(directory)))
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
