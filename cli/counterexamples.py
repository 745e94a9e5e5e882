"""Option --counterexample: an input on which two models differ, as files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .parsing import STREAM

if TYPE_CHECKING:
    from ..display import Block
    from ..ir import ModelFile
    from ..runtimes.session import Feeds


def require_folder(folder: Path | None, force: bool) -> None:
    """Check that a counterexample may be written, before the long work.

    Raises:
        SaveError: the folder cannot be written, or has other files.
    """
    if folder is not None:
        from ..verification.counterexample import place_of

        place_of(folder, force=force)


def write_counterexample(
    folder: Path,
    models: tuple[Path, Path],
    original: ModelFile,
    feeds: Feeds,
    reason: str,
    bound: Mapping[str, Any],
    options: Sequence[str],
    *,
    force: bool,
) -> Path:
    """Write an input on which two models differ; return the folder.

    Args:
        models: the files of both models.
        original: the first one.
        reason: the difference.
        bound: inputs that were set.
        options: further options of the command that shows the difference.
        force: write also into a folder with other files.

    Raises:
        SaveError: it cannot be written.
    """
    from ..verification.counterexample import Counterexample

    pairs = zip("AB", models, strict=True)
    names = [letter if path == STREAM else str(path) for letter, path in pairs]
    example = Counterexample.of(original, feeds, reason, bound=tuple(bound))
    example.write(folder, (names[0], names[1]), options, force=force)
    return folder


def folder_blocks(folder: Path | None, place: Path | None, equal: bool) -> Iterator[Block]:
    """Yield a line about the folder that was asked for; none if the models are equal."""
    from ..display import Line

    if place is not None:
        yield Line(f"the input is in {place}, with the command that shows the difference")
    elif folder is not None and not equal:
        yield Line(f"there is no input to write to {folder}", "note")


def with_folder(fields: Mapping[str, Any], place: Path | None) -> dict[str, Any]:
    """Return the fields of a result with the folder of the counterexample."""
    return {**fields, "counterexample": None if place is None else str(place)}
