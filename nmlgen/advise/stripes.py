"""Over how many OSTs to spread a file, by what was measured.

Sources: K. Ketelsen, Parallel IO on HLRN-IV systems (2021), table 2: a file that many ranks write grows faster with
each stripe, up to the 24 that were tried; one stripe takes 0.8 GB/s. F. Ott, IO-Verhalten und -Effizienz im Klima- und
Wettermodell ICON (2025): one writer of ICON's sends 0.5 GB/s.
"""

from __future__ import annotations

from nmlgen.experiment.experiment import Experiment
from nmlgen.experiment.ranks import RestartMode, restart_mode

_CDI_PIO = 2
_MOST_MEASURED = 24


def stripe_count(experiment: Experiment, what: str) -> tuple[int, str]:
    """The stripe_count for the files of "output" or "restart", and why.

    Raises UndecidedError where it depends on what nobody can know.
    """
    if what == "restart":
        if restart_mode(experiment) in (RestartMode.JOINT, RestartMode.DEDICATED):
            return 1, "each rank writes a file of its own"
    elif experiment["parallel_nml", "pio_type"].value == _CDI_PIO:
        osts = experiment.file_system.ost_count
        count = min(osts, _MOST_MEASURED) if osts else _MOST_MEASURED
        return count, f"all I/O ranks write one file; measured up to {_MOST_MEASURED} each stripe made it faster"
    return 1, "one rank writes a file, 0.5 GB/s at most, and one OST takes 0.8"
