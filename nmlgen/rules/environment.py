"""Variables that a runtime looks for by name, and finds no other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from nmlgen.experiment.experiment import Experiment
from nmlgen.findings import Finding, Severity, nearest, suggestion
from nmlgen.rules.rule import Rule

_OPENMP = tuple(
    f"OMP_{name}"
    for name in (
        *("AFFINITY_FORMAT", "ALLOCATOR", "AVAILABLE_DEVICES", "CANCELLATION", "DEBUG", "DEFAULT_DEVICE"),
        *("DISPLAY_AFFINITY", "DISPLAY_ENV", "DYNAMIC", "MAX_ACTIVE_LEVELS", "MAX_TASK_PRIORITY", "NESTED"),
        *("NUM_TEAMS", "NUM_THREADS", "PLACES", "PROC_BIND", "SCHEDULE", "STACKSIZE", "TARGET_OFFLOAD"),
        *("TEAMS_THREAD_LIMIT", "THREAD_LIMIT", "THREADS_RESERVE", "TOOL", "TOOL_LIBRARIES", "TOOL_VERBOSE_INIT"),
        "WAIT_POLICY",
    )
)
"""OpenMP 6.0, section 4."""

_DARSHAN = tuple(
    f"DARSHAN_{name}"
    for name in (
        *("APP_EXCLUDE", "APP_INCLUDE", "CONFIG_PATH", "DISABLE", "DISABLE_SHARED_REDUCTION", "DUMP_CONFIG"),
        *("DXT_SMALL_IO_TRIGGER", "DXT_UNALIGNED_IO_TRIGGER", "ENABLE_NONMPI", "EXCLUDE_DIRS", "INTERNAL_TIMING"),
        *("JOBID", "LOGFILE", "LOGHINTS", "LOGPATH", "MAX_RECORDS", "MEMALIGN", "MMAP_LOGPATH", "MOD_DISABLE"),
        *("MOD_ENABLE", "MODMEM", "NAME_EXCLUDE", "NAME_INCLUDE", "NAMEMEM", "RANK_EXCLUDE", "RANK_INCLUDE"),
    )
)
"""Darshan runtime documentation of 3.4, configuration."""

_NETWORK_AND_GPUS = (
    *("FI_MR_CACHE_MONITOR", "FI_MR_CACHE_MAX_COUNT", "FI_MR_CACHE_MAX_SIZE", "FI_CXI_RX_MATCH_MODE", "FI_CXI_ODP"),
    *("FI_CXI_RDZV_PROTO", "FI_CXI_RDZV_THRESHOLD", "FI_CXI_RDZV_GET_MIN", "FI_CXI_RDZV_EAGER_SIZE"),
    *("FI_CXI_OFLOW_BUF_SIZE", "FI_CXI_OFLOW_BUF_COUNT", "FI_CXI_OFLOW_BUF_MIN_POSTED", "FI_CXI_OFLOW_BUF_MAX_CACHED"),
    *("FI_CXI_REQ_BUF_SIZE", "FI_CXI_REQ_BUF_COUNT", "FI_CXI_REQ_BUF_MIN_POSTED", "FI_CXI_REQ_BUF_MAX_CACHED"),
    *("FI_CXI_OPTIMIZED_MRS", "FI_CXI_SAFE_DEVMEM_COPY_THRESHOLD", "FI_CXI_DISABLE_HOST_REGISTER"),
    *("FI_CXI_DEFAULT_CQ_SIZE", "FI_CXI_DEFAULT_TX_SIZE", "FI_CXI_DEFAULT_RX_SIZE", "FI_CXI_LLRING_MODE"),
    *("MPICH_GPU_SUPPORT_ENABLED", "MPICH_GPU_IPC_ENABLED", "MPICH_GPU_MANAGED_MEMORY_SUPPORT_ENABLED"),
    *("MPICH_OFI_NIC_POLICY", "MPICH_OFI_NIC_MAPPING", "MPICH_OFI_NIC_VERBOSE", "MPICH_OFI_SKIP_NIC_SYMMETRY_TEST"),
    *("MPICH_COLL_OPT_OFF", "MPICH_RDMA_ENABLED_CUDA", "CUDA_VISIBLE_DEVICES", "CUDA_BUFFER_PAGE_IN_THRESHOLD_MS"),
    *("NVCOMPILER_ACC_DEFER_UPLOADS", "NVCOMPILER_ACC_USE_GRAPH", "NVCOMPILER_ACC_SYNCHRONOUS", "NVCOMPILER_TERM"),
    *("NVCOMPILER_ACC_NOTIFY", "NVCOMPILER_ACC_TIME", "UCX_NET_DEVICES", "UCX_TLS", "UCX_RNDV_SCHEME"),
    *("MPICH_GPU_ALLREDUCE_USE_KERNEL", "MPICH_GPU_EAGER_DEVICE_MEM", "MPICH_GPU_MAX_NUM_STREAMS"),
    *("MPICH_GPU_IPC_THRESHOLD", "MPICH_GPU_NO_ASYNC_COPY", "MPICH_OFI_NUM_NICS", "MPICH_OFI_STARTUP_CONNECT"),
    *("MPICH_OFI_DEFAULT_TCLASS", "MPICH_OFI_CXI_COUNTER_REPORT", "MPICH_RANK_REORDER_METHOD", "MPICH_ENV_DISPLAY"),
    *("MPICH_MAX_THREAD_SAFETY", "MPICH_VERSION_DISPLAY", "MPICH_COLL_SYNC", "MPICH_SMP_SINGLE_COPY_MODE"),
    *("CUDA_DEVICE_ORDER", "CUDA_DEVICE_MAX_CONNECTIONS", "CUDA_LAUNCH_BLOCKING", "CUDA_MPS_PIPE_DIRECTORY"),
    *("CUDA_MPS_LOG_DIRECTORY", "CUDA_MODULE_LOADING", "CUDA_CACHE_DISABLE", "CUDA_CACHE_PATH", "CUDA_HOME"),
    *("NVCOMPILER_ACC_CUDA_HEAPSIZE", "NVCOMPILER_ACC_CUDA_STACKSIZE", "NVCOMPILER_ACC_CUDA_PROFSTOP"),
    *("NVCOMPILER_ACC_DEBUG", "NVCOMPILER_ACC_DEVICE_NUM", "NVCOMPILER_ACC_DEVICE_TYPE", "NVCOMPILER_ACC_GANGLIMIT"),
    *("NVCOMPILER_ACC_BUFFERSIZE", "NVCOMPILER_ACC_PROFLIB", "UCX_RNDV_FRAG_MEM_TYPE", "UCX_MAX_RNDV_RAILS"),
    *("UCX_LOG_LEVEL", "UCX_PROTO_ENABLE", "UCX_IB_GID_INDEX", "UCX_CUDA_COPY_DMABUF", "UCX_UNIFIED_MODE"),
    *("UCX_RNDV_THRESH", "UCX_MEMTYPE_CACHE", "UCX_IB_GPU_DIRECT_RDMA", "UCX_IB_ADDR_TYPE", "UCX_HANDLE_ERRORS"),
)
"""The ones that run scripts of ICON set: libfabric, fi_cxi(7); Cray MPICH, intro_mpi(3); CUDA; NVIDIA HPC SDK; UCX."""

_KNOWN = {
    "OMP_": _OPENMP,
    "DARSHAN_": _DARSHAN,
    **dict.fromkeys(("FI_", "MPICH_", "CUDA_", "NVCOMPILER_", "UCX_"), _NETWORK_AND_GPUS),
}


class MisspeltVariable(Rule):
    """A variable of OpenMP, Darshan, the network or the GPUs is misspelt.

    ## What it does
    Finds a variable that is none of those that are known and is nearly one of them, a mistake or two away or without
    its last word: of OpenMP (`OMP_`), Darshan (`DARSHAN_`), libfabric's provider for Slingshot (`FI_`), Cray MPICH
    (`MPICH_`), CUDA (`CUDA_`), the NVIDIA compiler's runtime (`NVCOMPILER_`) and UCX (`UCX_`).

    ## Why it matters
    Nobody reads it, and nobody says so: the threads, their stack, the log or the network are what they are without it.

    ## Evidence
    Each of them looks for its own names and ignores all others. `FI_CXI_RX_MATCH_NODE`, `FI_MP_CACHE_MONITOR` and
    `CUDA_BUFFER_PAGE_IN_THRESHOLD` stand in public run scripts of ICON, for `FI_CXI_RX_MATCH_MODE`,
    `FI_MR_CACHE_MONITOR` and `CUDA_BUFFER_PAGE_IN_THRESHOLD_MS`.

    ## Example
    ```yaml bad
    environment: {OMP_STACKSIZ: "200M"}
    #                           ^
    ```
    ```yaml good
    environment: {OMP_STACKSIZE: "200M"}
    ```

    ## References
    OpenMP 6.0, environment variables; Darshan runtime documentation, configuration; libfabric, fi_cxi(7); Cray MPICH,
    intro_mpi(3); NVIDIA HPC SDK, environment variables.
    """

    code = "ENV003"
    name = "misspelt-variable"
    severity = Severity.WARNING

    def check(self, experiment: Experiment) -> Iterator[Finding]:
        for name, setting in experiment.variables:
            known = next((names for beginning, names in _KNOWN.items() if name.startswith(beginning)), ())
            if name not in known and (meant := nearest(name, known) or _longer(name, known)) is not None:
                yield self.finding(setting, f"nothing reads {name}", suggestion(meant))


def _longer(name: str, known: Iterable[str]) -> str | None:
    """The one known name that has a last word more."""
    longer = [other for other in known if other.rpartition("_")[0] == name]
    return longer[0] if len(longer) == 1 else None
