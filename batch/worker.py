"""Work on one model, in any process: every failure becomes a record."""

from __future__ import annotations

import dataclasses
import os
import shutil
import tempfile
import threading
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..ir import Error, SaveError, Target
from ..ir.errors import reason
from .addresses import Address, are_stored_as_before
from .change_detection import Seen, are_as_before, seen
from .job_config import JobConfig
from .result import Done, Problem, Record
from .sources import Job

if TYPE_CHECKING:
    from ..driver.result import Outcome
    from ..ir import Model, ModelFile
    from ..runtimes.workers import Workers
    from ..verification.mismatch import MismatchError

_own = threading.local()


def work(job: Job, how: JobConfig, key: str) -> Done:
    """Work on a model, unless that was done before.

    Args:
        how: what to do.
        key: the digest of that.
    """
    _import_all()
    started = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # those of libraries; ours are messages
            result = _skipped(job, key) or _worked(job, how, key)
    except Exception as error:  # noqa: BLE001 - one failure does not stop the rest
        result = Done(failed(job, *_explained(error)))
    record = result.record
    page = how.page_of(job.name)
    if page is not None and page.exists():
        record = dataclasses.replace(record, report=str(page))
    if record.status == "skipped":
        return Done(record)
    record = dataclasses.replace(record, seconds=time.perf_counter() - started)
    return Done(record, result.entry and {**result.entry, "record": record.to_dict()})


def _worked(job: Job, how: JobConfig, key: str) -> Done:
    """Work on a model, wherever it is; what goes wrong with it is a record."""
    if job.is_stored:
        from .transfer import work_nearby

        return work_nearby(job, how.max_bytes, lambda near: _worked(near, how, key))
    try:
        return _made(job, how, key)
    except Exception as error:  # noqa: BLE001 - one failure does not stop the rest
        return Done(failed(job, *_explained(error)))


def _import_all() -> None:
    """Import what nearly all models need, so that none pays for it in its time."""
    from ..driver import calls  # noqa: F401
    from ..ir import networkx_view  # noqa: F401
    from ..verification import proof, recomputation  # noqa: F401


def failed(job: Job, problem: Problem, *messages: str) -> Record:
    """A record of a failure."""
    outputs = "different" if problem == "outputs differ" else ""
    return Record(job.name, job.source, job.target_name, "failed", problem, messages, outputs)


def _explained(error: Exception) -> tuple[Any, ...]:
    from ..passes import PassOptionError
    from ..verification.mismatch import MismatchError

    if isinstance(error, MismatchError):
        return "outputs differ", *error.lines()
    if isinstance(error, PassOptionError):
        return "usage", *error.lines()
    if isinstance(error, Error):
        return "bad input", *error.lines()
    if isinstance(error, OSError | MemoryError):
        return "bad input", str(error) or "out of memory"
    message = (
        f"a fault of straightline itself, {type(error).__name__}: {' '.join(str(error).split())}"
    )
    if os.environ.get("STRAIGHTLINE_TRACEBACK"):
        return "fault", message, *traceback.format_exc().splitlines()
    return "fault", f"{message}; set STRAIGHTLINE_TRACEBACK=1 to see where"


def _skipped(job: Job, key: str) -> Done | None:
    """Return the earlier result, if none of its files has changed since."""
    entry = job.earlier
    if entry is None or entry["key"] != key:
        return None
    read, results = entry["read"], entry["written"]
    if not (_unchanged(read, job.path, job.origin) and _unchanged(results, job.target, job.goal)):
        return None
    record = Record.from_dict(entry["record"])
    own: dict[str, Any] = {"name": job.name, "source": job.source, "target": job.target_name}
    return Done(dataclasses.replace(record, status="skipped", **own))


def _unchanged(entries: dict[str, Seen], file: Path, address: Address | None) -> bool:
    """Test whether the files beside a file or an address are as before."""
    if address is None:
        return are_as_before(entries, file.parent)
    return are_stored_as_before(entries, address.parent)


def _made(job: Job, how: JobConfig, key: str) -> Done:
    from ..ir import read_file

    with how.prepared():
        folder = job.path.parent
        read = seen([job.path], folder)  # before it is read: a change meanwhile is seen later
        original = read_file(job.path, how.max_bytes)
        read.update(seen(original.data_files, folder))
        files = [*how.feeds, *original.data_files]
        page = _fresh_page(job, files, how)
        if job.target.parent.is_dir():
            _target(job, files, how)
        outcome, problem = _transformed(original, how, page)
        _show(page, outcome)
        record = Record(job.name, job.source, job.target_name, "written").describing(outcome)
        if problem:
            return Done(dataclasses.replace(record, status="failed", problem=problem))
        entries = _written(outcome.ir, job, files, how)
    entry = {"name": job.name, "key": key, "read": read, "written": entries}
    return Done(dataclasses.replace(record, size=(_size(read), _size(entries))), entry)


def _size(files: dict[str, Seen]) -> int:
    return sum(status["size"] for status in files.values())


def _fresh_page(job: Job, files: list[Path], how: JobConfig) -> Path | None:
    """Return the place of the report, without the page of an earlier run.

    Raises:
        SaveError: another file would be lost.
    """
    page = how.page_of(job.name)
    if page is not None:
        from ..report import place_of

        page.parent.mkdir(parents=True, exist_ok=True)
        place_of(page, [*files, job.path, job.target], force=how.force).unlink(missing_ok=True)
    return page


def _show(page: Path | None, outcome: Outcome, mismatch: MismatchError | None = None) -> None:
    """Write the report of an outcome, where one is asked for."""
    if page is not None:
        from ..report import of_outcome, write

        name = outcome.ir.file.name if outcome.ir.file else page.stem
        write(page, of_outcome(outcome, mismatch=mismatch, names=(name, name)))


def _transformed(original: ModelFile, how: JobConfig, page: Path | None) -> tuple[Outcome, Problem]:
    """Rewrite a model and compare it; return also the problem that withholds it, "" for none."""
    from ..driver.calls import transform_model
    from ..verification.mismatch import MismatchError, require_compared

    outcome = transform_model(original, how.rewriting)
    if how.straight_line and outcome.left:
        return outcome, "control flow left"
    if how.whole_target and outcome.untaken:
        return outcome, "not taken"
    if how.verify is None:
        return outcome, ""
    try:
        outcome = outcome.compared(how.verify, _runtimes())
    except MismatchError as error:
        _show(page, dataclasses.replace(outcome, verdict=error.verdict), error)
        raise
    assert outcome.verdict is not None
    if how.rewriting.strict and not outcome.verdict.equal:
        require_compared(outcome.verdict, "the result", demanded=True)
    if how.straight_line and outcome.left:  # the comparison keeps what it refutes
        return outcome, "control flow left"
    is_short = how.verify.prove is True and not outcome.verdict.proved
    return outcome, "not verified" if is_short else ""


def _runtimes() -> Workers:
    """Return the runtimes of this thread, which are started once for all models."""
    if not hasattr(_own, "runtimes"):
        from ..runtimes.workers import Workers

        _own.runtimes = Workers()
    runtimes: Workers = _own.runtimes
    return runtimes


def _target(job: Job, files: list[Path], how: JobConfig) -> Target:
    return Target.of(job.target, files, job.path, force=how.force)


def _written(model: Model, job: Job, files_read: list[Path], how: JobConfig) -> dict[str, Seen]:
    """Write the result elsewhere, move it to its place, and describe its files.

    A process that is ended meanwhile leaves nothing half-written where results are.

    Raises:
        SaveError: it cannot be written, or something would be lost.
    """
    from ..ir import save

    try:
        job.target.parent.mkdir(parents=True, exist_ok=True)
        target = _target(job, files_read, how)
        folder = Path(tempfile.mkdtemp(dir=job.staging))
        try:
            file = folder / target.file.name
            save(model, file, keep=files_read, link_data="hard" if how.link_data else None)
            files = [*_data(file, target, job), file]
            entries = seen(files, folder)
            if len(files) > 1:  # else a process that is ended leaves it with data of another
                (target.folder / file.name).unlink(missing_ok=True)
            for one in files:
                _put(one, target.folder / one.name)
        finally:
            shutil.rmtree(folder)
    except OSError as error:
        raise SaveError(f"cannot write '{job.target_name}': {reason(error)}") from error
    return entries


def _data(file: Path, target: Target, job: Job) -> list[Path]:
    """Return the files of external data, each of which may go to its place."""
    beside = (path for path in file.parent.iterdir() if path != file)
    files = sorted(beside, key=lambda path: (len(path.name), path.name))  # as they are numbered
    if files:
        target.require_data_beside()
    places: list[Path] = []
    for path in files:
        owned = job.owns_data and path.name == job.data.name
        free = dataclasses.replace(target, force=target.force or owned)
        place = free.data_file(places, path)
        if place.name != path.name:
            raise SaveError(
                f"cannot write '{job.target_name}': its data would overwrite"
                f" '{job.target.with_name(path.name)}', which is read"
            )
        places.append(place)
    return files


def _put(file: Path, place: Path) -> None:
    linked = file.stat().st_nlink > 1  # its mode is that of what it is a link to
    if place.exists() and not linked:
        shutil.copymode(place, file)
    os.replace(file, place)
