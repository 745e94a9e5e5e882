"""Scheduler of a batch: jobs that are begun, skipped or repeated, and a record for each."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import os
import shutil
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..display import OnProgress, silent
from ..ir import TWO_GB
from ..ir.kinds import PATH, takes
from ..ir.option_names import by
from . import local
from .addresses import ONE_PROCESS, Address, Place, place_of
from .errors import BatchError
from .job_config import JobConfig
from .pools import LOCAL, Pool, pool_of
from .result import Done, Record
from .sources import DATA, Given, Job, jobs_of
from .state import State, kept_in
from .stored_state import StoredState, stored_in
from .worker import failed, work

_THREADS = ("threading", "sequential")
"""joblib's names for work in this process."""

if TYPE_CHECKING:
    from ..driver.option_fields import Passes, TargetLike
    from ..facts.named_dimensions import Dims
    from ..verification.runs.options import Unproved


@takes(out=PATH)
def run(
    sources: Given | Sequence[Given],
    out: Given,
    passes: Passes = None,
    *,
    jobs: int | None = None,
    resume: bool = False,
    backend: str = LOCAL,
    address: str | None = None,
    verify: bool | Mapping[str, Any] = True,
    unproved: Unproved = "samples",
    dims: Dims | None = None,
    target: TargetLike = None,
    require_straight_line: bool = False,
    require_target: bool = False,
    force: bool = False,
    max_bytes: int = TWO_GB,
    link_data: bool = False,
    load: Iterable[Given] = (),
    max_work: int | None = None,
    max_memory: int | None = None,
    on_progress: OnProgress = silent,
    **options: Any,
) -> list[Record]:
    """Rewrite or convert many models; a failure of one does not stop the rest.

    Args:
        sources: files, folders and patterns such as "models/**/*.onnx". A folder stands for all
            models in it and below it, and its structure is kept.
        out: the folder of the results, which is made if need be.
        passes: as in `straightline.transform`.
        jobs: how many models are worked on at once; by default as many as there are processors.
        resume: skip what was done before, if neither the source with its data, nor what is asked
            for, nor the result has changed since.
        backend: where the work is done, as joblib calls it: "loky", processes of this machine, or
            "dask" or "ray", a cluster that reaches the same files.
        address: where the cluster is, such as "tcp://10.0.0.1:8786" (dask) or "10.0.0.1:6379"
            (ray); by default what the process is connected to.
        verify: prove or compare the outputs, as in `straightline.transform`.
        unproved: the treatment of an open proof, as in `straightline.transform`.
        dims: sizes of named dimensions of inputs: `{"batch": 1}`.
        require_straight_line: count control flow that is left as a failure, and write nothing.
        target: what the models shall fit, as in `straightline.transform`.
        require_target: count what the target does not support as a failure, and write nothing.
        force: overwrite also what is no model, and data of other models.
        max_bytes: refuse larger model files.
        link_data: let results have hard links to external data rather than copies of it.
            onnxruntime reads these; `onnx.load` and onnx's checker refuse a file that has several
            names, under each of them.
        load: Python files that define passes.
        max_work: how many steps may be computed beforehand for each model.
        max_memory: how many bytes that may take.
        on_progress: told of each model that is done: stage, which one, how many, of how many.
        options: other options of `straightline.transform`, such as `opset`, `values`, `max_trips`.

    Returns:
        what became of each model, in the order of the sources.

    Raises:
        BatchError: there is no model, two results would go to one place, one would overwrite a
            source, the folder is in use, or the cluster is not reached. Nothing was done.
        PassOptionError: there is no such pass or option.
        TargetError: there is no such target.
        SaveError: the folder cannot be written.
        KeyboardInterrupt: what is written is whole; `resume` goes on with the rest.

    Examples:
        >>> import os, tempfile
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     sl.save(model, os.path.join(folder, "exp.onnx"))
        ...     records = sl.batch.run(folder, os.path.join(folder, "out"), jobs=1)
        >>> [(record.status, record.outputs) for record in records]
        [('written', 'proved')]
    """
    from ..driver.options import RewriteOptions
    from ..verification.runs.options import VerifyOptions

    comparison = VerifyOptions.of(verify, unproved)
    options.setdefault("timeout", comparison.timeout if comparison else None)
    how = JobConfig(
        RewriteOptions.of_call(locals(), hints=False),
        comparison,
        require_straight_line,
        require_target,
        force,
        max_bytes,
        tuple(map(Path, load)),
        link_data=link_data,
    )
    return run_all(sources, out, how, jobs, resume, backend, address, on_progress=on_progress)


def run_all(
    sources: Given | Sequence[Given],
    out: Given,
    how: JobConfig | Callable[[Job], JobConfig],
    jobs: int | None = None,
    resume: bool = False,
    backend: str = LOCAL,
    address: str | None = None,
    *,
    on_progress: OnProgress = silent,
) -> list[Record]:
    """Run a batch: `run` with its options in one object, or in one for each model."""
    import joblib

    if jobs is not None and jobs < 1:
        raise BatchError(
            f"jobs, the number of models in progress at once, must be 1 or more, not {jobs}"
        )
    place = place_of(out)
    works = _Works()
    if isinstance(how, JobConfig):
        works.of(how)  # before any model is looked for
    todo = jobs_of(sources, place)
    work_of = {j.name: works.of(how if isinstance(how, JobConfig) else how(j)) for j in todo}
    for job in todo:
        _require_reachable([job], backend, work_of[job.name][0])
    # Files of passes are loaded once in a process: a pool that is used again would keep an older
    # version of them.
    reusable = not any(config.load for config, _ in work_of.values())
    records: dict[str, Record] = {}
    with (
        pool_of(backend, jobs, address, reusable=reusable) as pool,
        kept_in(place) if isinstance(place, Path) else stored_in(place) as (state, staging),
    ):
        todo = _prepared(todo, place, state, staging)
        on_progress("beginning", "workers are started", 0, len(todo))

        def call(job: Job) -> Any:
            earlier = state.known(job.name) if resume else None
            job = dataclasses.replace(job, earlier=earlier)
            return joblib.delayed(work)(job, *work_of[job.name])

        def begin(job: Job) -> None:
            if job.owns_data:
                state.begin(job.name)

        work_on = finished(todo, pool, call, begin)
        with _cleared(staging, pool), contextlib.closing(work_on) as results:
            for job_result in results:
                record = job_result.record
                # The entry of a skipped model is already in the state, and each write of it costs a
                # disk access.
                if record.status != "skipped":
                    state.add(job_result.entry or _failure(record, state))
                records[record.name] = record
                on_progress("done", record.name, len(records), len(todo))
    return [records[job.name] for job in todo]


class _Works:
    """Work on models as workers take it, checked, with its digests; each once."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[JobConfig, JobConfig, str]] = {}

    def of(self, how: JobConfig) -> tuple[JobConfig, str]:
        """Return the work for workers, and its digest.

        Raises:
            PassOptionError: there is no such pass or option.
            TargetError: there is no such target.
            LoadError: a file cannot be read.
        """
        if id(how) not in self._known:
            config = how.for_workers()
            config.check()
            # The entry keeps the object alive, so that its id stays unique.
            self._known[id(how)] = how, config, config.key()
        return self._known[id(how)][1:]


def _require_reachable(jobs: Iterable[Job], backend: str, how: JobConfig) -> None:
    """Check that the processes which work on models reach them.

    Raises:
        BatchError: they do not, or no data can be linked there.
    """
    for job in jobs:
        for address in filter(None, (job.origin, job.goal)):
            if how.link_data:
                raise BatchError(
                    f"data cannot be linked to or from '{address}'; leave out {by('--link-data')}"
                )
            if address.protocol == ONE_PROCESS and backend not in _THREADS:
                raise BatchError(
                    f"only one process has '{address}', and others would work on it; use"
                    " backend='threading'"
                )


def _prepared(jobs: Iterable[Job], out: Place, state: State, staging: Path) -> list[Job]:
    """Return the jobs with the folder of unfinished results, and whose data is theirs."""
    present = set(out.below()) if isinstance(out, Address) else None

    def is_free(job: Job) -> bool:
        return not os.path.lexists(job.data) if present is None else job.name + DATA not in present

    prepared = [
        dataclasses.replace(job, staging=staging, owns_data=state.owns(job.name) or is_free(job))
        for job in jobs
    ]
    if isinstance(state, StoredState):
        state.begin_all(job.name for job in prepared if job.owns_data)
    return prepared


def _failure(record: Record, state: State) -> dict[str, Any]:
    """Return the entry of a model without a result."""
    entry = {"name": record.name, "record": record.to_dict()}
    return entry if state.owns(record.name) else {**entry, "foreign": True}


@contextlib.contextmanager
def _cleared(staging: Path, pool: Pool) -> Iterator[None]:
    """Remove what was not finished; a cluster may still work there when the work is given up."""
    try:
        with local.removed_at_any_end(staging) if pool.is_local else contextlib.nullcontext():
            yield
    except BaseException:
        if pool.is_local:
            shutil.rmtree(staging, ignore_errors=True)  # else the next run does
        raise
    shutil.rmtree(staging)


def finished(
    jobs: Iterable[Job], pool: Pool, call: Callable[[Job], Any], begin: Callable[[Job], None]
) -> Generator[Done, None, None]:
    """Yield the result of each model as it comes; each comes once.

    Where a process dies, those that it may have died of are done again, one after the other, and
    the rest goes on.

    Args:
        pool: where the work is done.
        call: makes of a model what the pool takes.
        begin: told of each that is handed out; from any thread.

    Raises:
        BatchError: the pool takes none.
    """
    todo = {job.name: job for job in jobs}
    while todo:
        handed: list[Job] = []

        def calls(handed: list[Job] = handed) -> Iterator[Any]:
            # A list, because results leave `todo` meanwhile.
            for job in list(itertools.islice(todo.values(), pool.most)):
                handed.append(job)
                begin(job)
                yield call(job)

        try:
            for job_result in pool.results(calls()):
                del todo[job_result.record.name]
                yield job_result
        except Exception as error:
            if not handed:
                raise BatchError(f"the backend '{pool.backend}' fails: {error}") from error
            # Any job without a result may have killed the process.
            for job in [job for job in handed if job.name in todo]:
                del todo[job.name]
                yield _alone(job, pool, call)


def _alone(job: Job, pool: Pool, call: Callable[[Job], Any]) -> Done:
    """Work on a model alone: if its process dies again, the model is at fault."""
    try:
        (outcome,) = pool.results([call(job)], alone=True)
    except Exception as error:  # noqa: BLE001 - as above
        detail = " ".join(str(error).split()) or type(error).__name__
        message = (
            "its process died twice, perhaps for lack of memory; process fewer models at once with"
            f" --jobs, or this one on a larger machine ({detail})"
        )
        return Done(failed(job, "worker died", message))
    else:
        result: Done = outcome
        return result
