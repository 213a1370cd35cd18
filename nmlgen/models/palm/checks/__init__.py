"""What PALM checks of its settings and stops at, each by the code of its message.

The conditions are those of PALM 25.10.1, as far as the namelist, the number of tasks and the files beside decide them.
"""

from __future__ import annotations

from nmlgen.models.palm.checks import domain, modules, running, writing
from nmlgen.models.palm.checks.check import Check

CHECKS: tuple[Check, ...] = (*domain.CHECKS, *running.CHECKS, *writing.CHECKS, *modules.CHECKS)
"""All of them, about in the order in which PALM comes to them."""
