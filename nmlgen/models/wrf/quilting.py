"""How WRF splits its tasks: those that compute, in a mesh, and those that only write ("quilting").

Source: WRF 4.7.1, `external/RSL_LITE/module_dm.F` (`MPASPECT`, `compute_mesh`, `split_communicator`) and
`frame/module_io_quilt_old.F` (`setup_quilt_servers`).
"""

from __future__ import annotations

from nmlgen.values import frozen


@frozen
class Layout:
    """Who does what among the tasks of a job.

    `mesh` is the number of patches in x and y that the domain is cut into, `computing` the tasks that there are for
    them, `servers` the writing tasks of each of `groups` groups, 0 where there are none, and `busy` those of a group
    that get any data.
    """

    tasks: int
    mesh: tuple[int, int]
    computing: int
    servers: int = 0
    groups: int = 1
    busy: int = 0

    @property
    def idle_servers(self) -> int:
        """Writing tasks that nobody sends anything."""
        return (self.servers - self.busy) * self.groups

    @property
    def without_patch(self) -> int:
        """Computing tasks that have nothing to compute."""
        return max(0, self.computing - self.mesh[0] * self.mesh[1])


class ImpossibleLayoutError(Exception):
    """WRF stops, as it cannot split the tasks so; `name` is the setting that is at fault."""

    def __init__(self, message: str, name: str) -> None:
        super().__init__(message)
        self.name = name


def layout(tasks: int, servers: int, groups: int, nproc_x: int, nproc_y: int) -> Layout:
    """The layout of so many tasks; raises ImpossibleLayoutError where WRF stops."""
    wanted = servers * groups
    rest = tasks - wanted
    mesh = _mesh(rest, nproc_x, nproc_y, tasks)
    if mesh[0] * mesh[1] > tasks:
        raise ImpossibleLayoutError(f"{mesh[0]} x {mesh[1]} patches are more than the {tasks} tasks", "nproc_x")
    groups = max(groups, 1)
    computing = tasks - servers * groups
    if servers > 0 and mesh[1] < 1:
        raise ImpossibleLayoutError(f"a mesh of {mesh[0]} x {mesh[1]} has no rows for the writing tasks", "nproc_y")
    if servers <= 0 or computing < servers:
        return Layout(tasks, mesh, tasks)
    return Layout(tasks, mesh, computing, servers, groups, min(servers, mesh[1]))


def _mesh(tasks: int, nproc_x: int, nproc_y: int, all_tasks: int) -> tuple[int, int]:
    if nproc_x != -1 and nproc_y != -1:
        return nproc_x, nproc_y
    if tasks < 1:
        raise ImpossibleLayoutError(f"of {all_tasks} tasks none is left to compute", "nio_tasks_per_group")
    if tasks > all_tasks:  # as writing tasks are counted below 0
        raise ImpossibleLayoutError(f"{tasks} patches are more than the {all_tasks} tasks", "nio_tasks_per_group")
    return most_square(tasks)


def most_square(tasks: int) -> tuple[int, int]:
    """The mesh of so many tasks whose sides differ least, no more of them in x than in y."""
    x = max(side for side in range(1, int(tasks**0.5) + 1) if tasks % side == 0)
    return x, tasks // x
