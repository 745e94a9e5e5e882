"""What commands read before their work: models, files with passes, and where a model is to go."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

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


def target_given(name: str | None, file: Path | None, required: bool = False) -> str | Path | None:
    """What --target or --target-file names.

    Raises:
        BadParameter: both are given, or there is none where one is required.
    """
    if name is not None and file is not None:
        raise typer.BadParameter("--target and --target-file name two targets; give one of them")
    if required and name is None and file is None:
        raise typer.BadParameter("--require-target is about a target; name one with --target")
    return name if file is None else file


def require_opset(opset: int | None, target: str | Path | None) -> None:
    """Check that a conversion knows where to.

    Raises:
        BadParameter: neither an opset nor a target is given.
    """
    if opset is None and target is None:
        raise typer.BadParameter("say where to: --opset N, or --target NAME")
