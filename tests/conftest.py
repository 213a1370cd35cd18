"""Options of the tests; where they, and all that they start, find programs; what hypothesis may hold against them."""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings
from tools import search_path

# No outcome depends on how fast the machine is.
settings.register_profile("nmlgen", max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
# CI tries the same examples each time: a change is judged by what it changes. At home they are drawn afresh.
settings.register_profile("ci", settings.get_profile("nmlgen"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "nmlgen")
# `pytest --hypothesis-profile=thorough tests/test_importing.py` looks for as long as one has patience.
settings.register_profile("thorough", max_examples=10_000)


@pytest.fixture(autouse=True, scope="session")
def _rules_fail_aloud():
    """A rule that fails is a finding for the user, and a failure of the test here."""

    def failed(rule: object, error: Exception, beginning: object) -> None:
        raise error

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("nmlgen.checking._failed", failed)
        yield


@pytest.fixture(autouse=True, scope="session")
def _nobody_waits_for_the_disk():
    """What a test writes need not outlast a loss of power: only the programs that tests start wait for the disk."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: os.fstat(descriptor) and None)  # one that is closed is refused
        yield


def pytest_collection_finish() -> None:
    """What stays for the whole session is seldom looked through for garbage: a sixth of the CPU. Old versions of
    hypothesis ask who refers to an object, which `gc.freeze` would hide from them."""
    gc.set_threshold(20_000, 50, 100)


def pytest_unconfigure() -> None:
    """Pytest looks through all there is for garbage five times in the end: from the second time on at nothing."""
    gc.collect()
    gc.freeze()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--regenerate", action="store_true", help="write the golden files anew")


def pytest_configure() -> None:
    os.environ["NMLGEN_NO_CACHE"] = "1"  # what one test has changed no other is to find
    os.environ["PATH"] = search_path(os.environ.get("PATH", os.defpath))
