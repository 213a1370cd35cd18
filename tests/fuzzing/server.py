"""A process that has loaded nmlgen and nothing else, and does calls of it in copies of itself, one after the other.

What the tests have loaded, and what the shell of whoever runs them says, does not reach the copies: their address space
and their environment are the same everywhere. A line of JSON asks for a call, a line of JSON says how it ended.
"""

from __future__ import annotations

import contextlib
import errno
import gc
import json
import math
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from cProfile import Profile
from typing import Any

_PATIENCE = 900  # seconds after which a call is taken for one that waits for ever
_MAKES_ROOM = frozenset({"os.remove", "os.rmdir", "os.truncate", "os.chmod"})
_DEEDS = frozenset({"os.rename", "os.link", "os.symlink", "os.mkdir"}) | _MAKES_ROOM


def main() -> None:
    """Answer until nobody asks any more."""
    sys.path.pop(0)  # this directory: the tests' modules are not nmlgen's
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a command or a program says while it warms up
    for line in sys.stdin:
        asked = json.loads(line)
        if asked.get("warms"):
            _warm_up(asked)
            answer: list[float] = []
        else:
            child = os.fork()
            if child == 0:
                _run_all(asked) if "calls" in asked else _run(asked)
            _, status, usage = os.wait4(child, 0)
            answer = [os.waitstatus_to_exitcode(status), usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024]
        print(json.dumps(answer), file=answers, flush=True)


def _run_all(asked: dict[str, Any]) -> None:
    """What a copy does that does many calls, one after the other; it never comes back. A line says how each ended."""
    before = dict(os.environ)
    signal.signal(signal.SIGXCPU, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_AS, (asked["memory"],) * 2)
    from nmlgen.cli import main as nmlgen

    with open(asked["ends"], "a", encoding="utf-8") as ends:
        for one in asked["calls"]:
            _begin(one)
            signal.alarm(_PATIENCE)
            _forget_peak()
            began = time.process_time()
            if asked["cpu"]:
                soft = math.ceil(began + asked["cpu"])
                resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
            code = 70
            try:
                code = nmlgen(list(one["arguments"]))
            except SystemExit as error:
                code = error.code if isinstance(error.code, int) else 1
            except BaseException:
                traceback.print_exc()
            sys.stdout.flush()
            sys.stderr.flush()
            print(json.dumps([code, time.process_time() - began, _peak()]), file=ends, flush=True)
            for number in range(3):
                os.close(number)
            os.environ.clear()
            os.environ.update(before)
    os._exit(0)


def _forget_peak() -> None:
    """Let the kernel begin anew to note the largest resident memory, where it can."""
    with contextlib.suppress(OSError), open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")


def _peak() -> int:
    """The largest resident memory since `_forget_peak` in bytes, or since the process began."""
    with contextlib.suppress(OSError), open("/proc/self/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:")) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def _begin(asked: dict[str, Any]) -> None:
    """Let this process be where a call says, with its files and its environment."""
    for number, name in enumerate(("in", "out", "error")):
        given = os.open(asked[name], os.O_RDWR | os.O_APPEND)
        if given != number:
            os.dup2(given, number)
            os.close(given)
    sys.stdin = open(0, encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    os.chdir(asked["directory"])
    os.environ.update(asked["environment"])


def _run(asked: dict[str, Any]) -> None:
    """What a copy does; it never comes back."""
    code, profile = 70, Profile(subcalls=False)
    try:
        _begin(asked)
        signal.signal(signal.SIGXCPU, signal.SIG_DFL)
        signal.alarm(_PATIENCE)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (asked["memory"],) * 2)
        if asked["cpu"]:
            resource.setrlimit(resource.RLIMIT_CPU, (asked["cpu"], asked["cpu"] + 1))
        from nmlgen.cli import main as nmlgen

        if asked["killed_at"] is not None:
            _kill(asked["killed_at"])
        if asked["full_at"] is not None:
            _refuse(asked["full_at"])
        if asked["largest_file"] is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (asked["largest_file"],) * 2)
        if asked["counted"] is not None:
            profile.enable()
        code = nmlgen(list(asked["arguments"]))
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        traceback.print_exc()
    finally:
        try:
            sys.stdout.flush()
            sys.stderr.flush()
            if asked["counted"] is not None:
                profile.disable()
                _note(profile, asked["counted"])
        finally:
            os._exit(code)


def _note(profile: Profile, name: str) -> None:
    """Write into a file how often each function was called."""
    counts: Counter[str] = Counter()
    for entry in profile.getstats():
        code = entry.code
        function = code if isinstance(code, str) else f"{code.co_filename}:{code.co_firstlineno} {code.co_name}"
        counts[function] += entry.callcount + entry.reccallcount
    with open(name, "w", encoding="utf-8") as file:
        json.dump(counts, file)


def _is_deed(event: str, arguments: tuple[Any, ...]) -> bool:
    """Whether the disk is about to be changed."""
    if event == "open":
        return isinstance(arguments[2], int) and bool(arguments[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
    return event in _DEEDS


def _kill(number: int) -> None:
    """Let this process be killed before the so-manieth change of the disk."""
    left = number

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if _is_deed(event, arguments):
            left -= 1
            if left < 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)


def _refuse(number: int) -> None:
    """Let the disk be full from the so-manieth change on: nothing new can be made, what is there can be taken away."""
    left = number

    def watch(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if _is_deed(event, arguments) and event not in _MAKES_ROOM and arguments[0] != os.devnull:
            left -= 1
            if left < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(arguments[0]))

    sys.addaudithook(watch)


def _warm_up(asked: dict[str, Any]) -> None:
    """Do a call in this very process, so that its copies have loaded what it needs."""
    from nmlgen.cli import main as nmlgen

    here, standard, before = os.getcwd(), (sys.stdout, sys.stderr), dict(os.environ)
    with open(os.devnull, "w", encoding="utf-8") as nowhere:
        try:
            os.chdir(asked["directory"])
            os.environ.update(asked["environment"])
            sys.stdout = sys.stderr = nowhere
            nmlgen(list(asked["arguments"]))
        finally:
            sys.stdout, sys.stderr = standard
            os.environ.clear()
            os.environ.update(before)
            os.chdir(here)
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    main()
