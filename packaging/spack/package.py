# ruff: noqa: F403, F405
"""nmlgen for Spack. In a checkout, before a release is on PyPI: `spack dev-build py-nmlgen@0.1.0`."""

from spack.package import *


class PyNmlgen(PythonPackage):
    """The namelist compiler for ICON on Slurm: one YAML spec in; checked Fortran namelists, a batch script, Lustre
    striping and the MPI-IO environment out."""

    pypi = "nmlgen/nmlgen-0.1.0.tar.gz"
    license("BSD-3-Clause")

    version("0.1.0")

    variant("darshan", default=False, description="Read Darshan logs")
    variant("frame", default=False, description="Tables as pandas frames and Parquet")
    variant("lsp", default=False, description="The language server for editors")
    variant("netcdf", default=False, description="Look into NetCDF-4 files of a run")
    variant("plot", default=False, description="Charts")

    depends_on("python@3.10:", type=("build", "run"))
    depends_on("py-hatchling@1.21:", type="build")

    with default_args(type=("build", "run")):
        depends_on("py-attrs@23.2:")
        depends_on("py-click@8.1:")
        depends_on("py-f90nml@1.4.1:")
        depends_on("py-jinja2@3.1:")
        depends_on("py-jsonschema@4.17:")
        depends_on("py-rich@13:")
        depends_on("py-ruamel-yaml@0.18:")
        depends_on("py-tomli@2:", when="^python@:3.10")
        depends_on("py-darshan@3.4.4:", when="+darshan")
        depends_on("py-pandas@2:", when="+frame")
        depends_on("py-pyarrow@14:", when="+frame")
        depends_on("py-pygls@2.0:", when="+lsp")
        depends_on("py-netcdf4@1.6.5:", when="+netcdf")
        depends_on("py-matplotlib@3.8:", when="+plot")

    @run_after("install")
    def install_manual(self):
        """The manual pages, made by the program itself."""
        python("-m", "nmlgen", "man", "-o", self.prefix.share.man.man1)

    @run_after("install")
    def install_completions(self):
        """The completion of the shells."""
        places = {
            "bash": bash_completion_path(self.prefix) / "nmlgen",
            "fish": fish_completion_path(self.prefix) / "nmlgen.fish",
            "zsh": zsh_completion_path(self.prefix) / "_nmlgen",
        }
        for shell, path in places.items():
            mkdirp(path.parent)
            path.write_text(python("-m", "nmlgen", "completion", shell, output=str))
