"""What PBS says of itself, by qstat.

All answers were observed with OpenPBS 23.06.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from nmlgen.schedulers.programs import Programs

pbs = Programs("PBS")


def server() -> Mapping[str, str]:
    """The attributes of the server, such as pbs_version; what was never set is left out."""
    return dict(re.findall(r"^ {4}(\w+) = (.*)$", pbs.run(["qstat", "-B", "-f"]), re.MULTILINE))


def queues() -> tuple[str, ...]:
    """The names of the queues."""
    return tuple(re.findall(r"^Queue: (\S+)$", pbs.run(["qstat", "-Q", "-f"]), re.MULTILINE))
