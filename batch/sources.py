"""Sources of a batch: the models, and where the result of each goes."""

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from ..ir.file_reader import similar_file
from ..records import record
from .addresses import Address, Place, place_of
from .errors import BatchError

Given = str | os.PathLike[str]
SUFFIX = ".onnx"
DATA = ".data"
"""What the name of a file of external data has behind that of its model."""


@record(frozen=True)
class Job:
    """One model to be worked on. Paths are absolute: the work may be done elsewhere.

    Where a model or result is on shared storage, its address counts instead of its path.

    Attributes:
        name: its place below the folder of the results.
        source: the model as the caller named it.
        path: the same, absolute.
        target_name: the target as the caller would name it.
        target: the same, absolute.
        origin: the address of the model, on shared storage.
        goal: the address of the target, on shared storage.
        staging: the folder where results are made before they take their places.
        earlier: its entry from an earlier run; None for none.
        owns_data: whether a file of external data at the target can only be a result of this one.
    """

    name: str
    source: str
    path: Path
    target_name: str
    target: Path
    origin: Address | None = None
    goal: Address | None = None
    staging: Path = Path()
    earlier: Mapping[str, Any] | None = None
    owns_data: bool = False

    @property
    def data(self) -> Path:
        """Where external data of the result goes."""
        return self.target.with_name(self.target.name + DATA)

    @property
    def is_stored(self) -> bool:
        """Test whether the model or its result is on shared storage."""
        return self.origin is not None or self.goal is not None

    @classmethod
    def of(cls, name: str, source: Place, target: Place) -> "Job":
        """Make the job of a model."""
        origin = source if isinstance(source, Address) else None
        goal = target if isinstance(target, Address) else None
        path, result = (Path(os.path.abspath(str(place))) for place in (source, target))
        return cls(name, str(source), path, str(target), result, origin, goal)


def jobs_of(sources: Given | Sequence[Given], out: Place) -> list[Job]:
    """Return a job for each model that files, folders and patterns name, in this order.

    A folder stands for all models in it and below it, sorted, whose places below it are kept.
    Hidden files and folders are passed over, and so is `out` where it lies below.

    Raises:
        BatchError: there is no model, two results would go to one place, or one over a source.
    """
    if isinstance(sources, str | os.PathLike):
        sources = [sources]
    jobs: dict[str, Job] = {}
    for source in sources:
        for file, below in _models(source, out):
            name = PurePath(below).as_posix()
            target = out / name if isinstance(out, Address) else out / below
            job = Job.of(name, file, target)
            # A model that is named twice is done once.
            first = jobs.setdefault(name, job)
            if (first.path, first.origin) != (job.path, job.origin):
                raise BatchError(
                    f"the results of '{first.source}' and '{job.source}' would both be"
                    f" '{job.target_name}'; name their common folder, whose structure is kept"
                )
    _require_apart(jobs)
    _require_no_source(jobs.values())
    return list(jobs.values())


def _models(source: Given, out: Place) -> Iterator[tuple[Place, str]]:
    """Yield each model of an argument, with its place below the folder of results."""
    place = place_of(source)
    if isinstance(place, Address):
        yield from _at_address(place, out)
    else:
        below = out if isinstance(out, Path) else None
        yield from models_here(place, below)


def _at_address(place: Address, out: Place) -> Iterator[tuple[Address, str]]:
    """Yield each model that an address names: a folder, a pattern or a file."""
    if glob.has_magic(place.url):
        folder, pattern = _cut_pattern(place)
        names, missing = folder.below(pattern), f"no file matches '{place}'"
    elif place.url.endswith(SUFFIX) and place.described() is not None:
        yield place, place.name
        return
    else:
        folder = place
        names, missing = folder.below(), f"there is no model ('*{SUFFIX}') below '{place}'"
    passed = f"{out}/"
    models = [
        (folder / below, below)
        for below in names
        if below.endswith(SUFFIX)
        and not any(part.startswith(".") for part in below.split("/"))
        and not (str(folder / below).startswith(passed) and str(out) != folder.url)
    ]
    if not models:
        raise BatchError(missing)
    yield from models


def _cut_pattern(place: Address) -> tuple[Address, str]:
    """Split an address into the folder above the first pattern, and the rest."""
    parts = place.url.split("/")
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    return Address("/".join(parts[:fixed])), "/".join(parts[fixed:])


def models_here(path: Path, out: Path | None = None) -> Iterator[tuple[Path, str]]:
    """Yield each model of a path on this machine, with its place below a folder.

    Args:
        path: a file, a folder or a pattern.
        out: the folder of results, which is passed over.

    Raises:
        BatchError: there is no model, or a folder cannot be read.
    """
    text = os.fspath(path)
    if path.is_dir():
        files = list(_in_folder(path, out))
        missing = f"there is no model ('*{SUFFIX}') in the folder '{path}'"
    elif path.exists():
        yield path, path.name
        return
    elif glob.has_magic(text):
        files = list(_matching(text, out))
        missing = f"no file matches '{text}'"
    else:
        raise BatchError(f"there is no model '{path}': no such file or folder{similar_file(path)}")
    if not files:
        raise BatchError(missing)
    yield from files


def _in_folder(folder: Path, out: Path | None) -> Iterator[tuple[Path, str]]:
    def fail(error: OSError) -> None:
        raise BatchError(f"cannot read the folder '{error.filename}': {error.strerror}") from error

    passed = _passed_over(folder, out)
    for place, folders, files in os.walk(folder, onerror=fail):
        # `os.walk` enters the folders that remain in its list.
        folders[:] = sorted(
            name
            for name in folders
            if name[0] != "." and os.path.realpath(os.path.join(place, name)) != passed
        )
        for name in sorted(files):
            if name.endswith(SUFFIX) and name[0] != ".":
                file = Path(place, name)
                yield file, os.path.relpath(file, folder)


def _matching(pattern: str, out: Path | None) -> Iterator[tuple[Path, str]]:
    """The files that match; places are kept below the part of the pattern that is no pattern."""
    parts = Path(pattern).parts
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    folder = Path(*parts[:fixed])
    passed = _passed_over(folder, out)
    for match in sorted(glob.glob(pattern, recursive=True)):
        file = Path(match)
        real = os.path.realpath(file)
        if file.is_file() and not (passed and real.startswith(passed + os.sep)):
            yield file, os.path.relpath(file, folder)


def _passed_over(folder: Path, out: Path | None) -> str:
    """The folder of the results, where it lies below another; else ""."""
    if out is None:
        return ""
    real, within = os.path.realpath(out), os.path.realpath(folder)
    # The root folder ends in a separator already.
    return real if real != within and real.startswith(within.rstrip(os.sep) + os.sep) else ""


def _require_apart(jobs: Mapping[str, Job]) -> None:
    """Check that no result stands where another one has its data or its folder."""
    for name, job in jobs.items():
        owner = jobs.get(name.removesuffix(DATA)) if name.endswith(DATA) else None
        above = next((jobs[str(p)] for p in PurePath(name).parents if str(p) in jobs), None)
        for other, what in ((owner, "its external data"), (above, "a folder")):
            if other is not None:
                raise BatchError(
                    f"the result of '{other.source}' would be '{other.target_name}', and that of"
                    f" '{job.source}' needs '{job.target_name}', which would be {what}; give them"
                    " different folders with -o"
                )


def _require_no_source(jobs: Iterable[Job]) -> None:
    jobs = list(jobs)
    read = {key: job for job in jobs for key in _keys(job.origin or job.path)}
    for job in jobs:
        data = None if job.goal is None else Address(f"{job.goal}{DATA}")
        # Neither the result nor its external data may lie over a source.
        for place in (job.goal or job.target, data or job.data):
            owner = next((read[key] for key in _keys(place) if key in read), None)
            if owner is not None:
                raise BatchError(
                    f"the result of '{job.source}' would overwrite the model '{owner.source}';"
                    " name another folder with -o"
                )


def _keys(path: Place) -> list[object]:
    """Return the identity of a file: its path, links followed, and its place on disk."""
    if isinstance(path, Address):
        return [path]
    real: list[object] = [os.path.realpath(path)]
    # One file may have several names (hard links).
    if path.exists():
        status = path.stat()
        real.append((status.st_dev, status.st_ino))
    return real
