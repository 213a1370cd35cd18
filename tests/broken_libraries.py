"""What libraries do at broken files."""

from __future__ import annotations

import os
import signal


def endless(*_: object) -> None:
    while True:
        pass


def greedy(*_: object) -> None:
    bytearray(2**30)


def crashing(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
