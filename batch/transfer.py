"""Work on a model of shared storage: it is fetched, its result is made here and then stored."""

import dataclasses
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..ir import LoadError
from ..ir.io.external_data import external_tensors, files_of
from ..ir.io.header_scan import skim
from .addresses import Address, Stored, stored
from .result import Done
from .sources import DATA, Job

_PLACEHOLDER = b"-"


def work_nearby(job: Job, max_bytes: int, work: Callable[[Job], Done]) -> Done:
    """Work on a model by way of a folder of this machine.

    Args:
        job: the model, or its result, or both on shared storage.
        max_bytes: refuse a larger model file.
        work: works on a model of this machine.

    Raises:
        Error: the storage does not answer.
    """
    staging = job.staging if job.staging.is_dir() else None
    with tempfile.TemporaryDirectory(prefix="straightline-", dir=staging) as name:
        folder = Path(name)
        near, names = job, {}
        read: dict[str, Stored] | None = None
        if job.origin is not None:
            path = folder / "in" / job.origin.name
            read = _fetch(job.origin, path, max_bytes)
            near = dataclasses.replace(near, path=path, origin=None)
            names[f"{path.parent}{os.sep}"] = f"{job.origin.parent}/"
        if job.goal is not None:
            target = folder / "out" / job.goal.name
            _take_present(job, job.goal, target)
            unfinished = folder / "made"
            unfinished.mkdir()
            near = dataclasses.replace(near, target=target, staging=unfinished, goal=None)
            names[f"{target.parent}{os.sep}"] = f"{job.goal.parent}/"
        result = _renamed(work(near), names)
        if result.entry is None:
            return result
        entry = result.entry if read is None else {**result.entry, "read": read}
        if job.goal is not None:
            entry = {**entry, "written": _store(entry["written"], near.target, job.goal)}
        return dataclasses.replace(result, entry=entry)


def _fetch(origin: Address, path: Path, max_bytes: int) -> dict[str, Stored]:
    """Fetch a model with its external data, and describe the files."""
    described = stored([origin.name], origin.parent)  # before: a change meanwhile is seen later
    size = described[origin.name]["size"]
    if size > max_bytes:
        raise LoadError(f"'{origin}' is larger than {max_bytes} bytes")
    origin.fetch(path)
    try:
        files = files_of(external_tensors(skim(path)), path.parent)
    except LoadError:  # no model: reading it tells why
        return described
    for file in sorted(files):
        below = os.path.relpath(file, path.parent)
        data = origin.parent / Path(below).as_posix()
        if not below.startswith(os.pardir) and (entry := data.described()) is not None:
            data.fetch(file)
            described[Path(below).as_posix()] = entry
    return described


def _take_present(job: Job, goal: Address, target: Path) -> None:
    """Put what stands at an address to the place of the result: the same checks apply to it."""
    target.parent.mkdir()
    if goal.described() is not None:
        goal.fetch(target)
    data = Address(f"{goal.url}{DATA}")
    if not job.owns_data and data.described() is not None:
        target.with_name(data.name).write_bytes(_PLACEHOLDER)


def _store(files: dict[str, Any], target: Path, goal: Address) -> dict[str, Stored]:
    """Store the files of a result, the model last, and describe them."""
    names = sorted(files, key=lambda name: name == target.name)
    if len(names) > 1:  # else an end in between leaves it with data of another
        goal.remove()
    for name in names:
        (goal.parent / name).put(target.parent / name)
    return stored(names, goal.parent)


def _renamed(result: Done, names: dict[str, str]) -> Done:
    """Name in messages the addresses instead of files of this machine."""
    messages = []
    for message in result.record.messages:
        for local, address in names.items():
            message = message.replace(local, address)
        messages.append(message)
    return dataclasses.replace(
        result, record=dataclasses.replace(result.record, messages=tuple(messages))
    )
