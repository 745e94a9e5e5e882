"""What commands read before their work: models, files with passes, and where a model is to go."""

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
    given: Sequence[Path | None],
    certificate: Path | None,
    force: bool,
    link_data: Sharing | None = None,
) -> tuple[ModelFile, list[Path]]:
    """The model, and the files that are read beside it; none of them is to be overwritten, which
    is found out before the long work."""
    from ..runtimes.feeds import files_of

    read = [file for path in given if path is not None for file in files_of(path)]
    original = read_model(source, most)
    require_place(target, [*read, *original.data_files], original, force=force, link_data=link_data)
    if certificate is not None:
        from ..verification.certificate import place_of

        place_of(certificate, [*read, *original.data_files, source, target], force=force)
        read.append(certificate)
    return original, read


def load_passes(files: list[Path] | None) -> None:
    """Let pipelines name the passes of files."""
    if files:
        from ..passes import load_file

        for file in files:
            load_file(file)
