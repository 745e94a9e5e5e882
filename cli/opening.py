"""Files that commands read before their work: models, and passes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from .piping import read_model, require_place

if TYPE_CHECKING:
    from ..ir import ModelFile
    from .options import Sharing


def opened(
    source: Path,
    most: int | None,
    target: Path,
    beside: Sequence[Path | None],
    certificate: Path | None,
    force: bool,
    link_data: Sharing | None = None,
) -> tuple[ModelFile, list[Path]]:
    """Read a model, and check that no file that is read would be overwritten.

    Returns:
        the model, and the files that are read beside it.
    """
    from ..runtimes.feeds import files_of

    read = [file for path in beside if path is not None for file in files_of(path)]
    original = read_model(source, most)
    require_place(target, [*read, *original.data_files], original, force=force, link_data=link_data)
    if certificate is not None:
        from ..verification.certificate import place_of

        place_of(certificate, [*read, *original.data_files, source, target], force=force)
        read.append(certificate)
    return original, read


def load_passes(files: list[Path] | None) -> None:
    """Load files whose passes pipelines may name."""
    if files:
        from ..passes import load_file

        for file in files:
            load_file(file)
