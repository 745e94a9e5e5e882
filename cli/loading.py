"""Files of `--load`, `--rules` and `--define`, and the check of definitions."""

from .arguments import ModelArguments
from .terminal import complain


def load_files(about: ModelArguments) -> None:
    """Load the files that a command names; with --check, compare definitions with kernels.

    Raises:
        Error: a file cannot be loaded, or a definition contradicts its kernel.
    """
    from ..passes import load_file

    for file in about.load or ():
        load_file(file)
    if about.check:
        from ..verification.runs.kernel_check import require_own_kernels

        for check in require_own_kernels():
            complain(str(check))
