"""``python -m mtrlib.reporting.lab``: JupyterLab on the index of the notebooks.

Options of ``jupyter lab`` may follow, for example ``--no-browser --port=9999``; one that is set
here too, for example ``--ServerApp.root_dir``, replaces ours. A port that is taken is no trouble:
Jupyter tries the next ones.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

from mtrlib import paths
from mtrlib.reporting import kernel

INDEX = "index.ipynb"
ALIASES = {"--notebook-dir": "--ServerApp.root_dir"}  # short names of what is set here
NATIVE = "python3"  # the kernel that every notebook of this repository names


class OwnKernel(KernelSpecManager):
    """Kernels of this machine, with ``python3`` always the interpreter that runs JupyterLab.

    A user may have installed ``python3`` as a kernel of some other environment, for example in a
    folder of ``JUPYTER_PATH``, which Jupyter prefers to ours; the library is not there.
    """

    def find_kernel_specs(self) -> dict[str, str]:
        """Names and folders; that of ``python3`` is ipykernel's own."""
        from ipykernel.kernelspec import RESOURCES

        found: dict[str, str] = super().find_kernel_specs()
        return {**found, NATIVE: RESOURCES}

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        """The kernel of this name; ``python3`` runs :data:`sys.executable`."""
        if kernel_name.lower() != NATIVE:
            return super().get_kernel_spec(kernel_name)
        return kernel.own_spec()


def arguments(given: Sequence[str] = ()) -> list[str]:
    """What JupyterLab is started with: our folder, page and kernel, then the options given.

    Jupyter refuses an option that stands twice, so ours goes where the reader gives the same.
    """
    ours = [
        f"--ServerApp.root_dir={paths.notebooks()}",
        f"--LabApp.default_url=/lab/tree/{INDEX}",
        f"--ServerApp.kernel_spec_manager_class=mtrlib.reporting.lab.{OwnKernel.__name__}",
        # neither news nor versions are looked up elsewhere
        "--LabApp.news_url=None",
        "--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate",
    ]
    named = {ALIASES.get(name, name) for name in (text.partition("=")[0] for text in given)}
    return [text for text in ours if text.partition("=")[0] not in named] + list(given)


def main(argv: Sequence[str] | None = None) -> None:
    """Serve JupyterLab until it is stopped."""
    from jupyterlab.labapp import LabApp  # type: ignore[import-untyped]

    LabApp.launch_instance(arguments(sys.argv[1:] if argv is None else argv))


if __name__ == "__main__":
    main()
