"""Where the work is done: processes of this machine, or a cluster, by way of joblib."""

import contextlib
from collections.abc import Generator, Iterable, Iterator
from typing import Any

from . import local
from .errors import BatchError

LOCAL = "loky"
_TELL_AT_THE_END = ("multiprocessing",)
_BLOCK = 64


class Pool:
    """Pool of processes that call functions.

    Args:
        backend: joblib's name for where that is.
        jobs: how many at once; None for as many as there are processors.
        settings: of the backend.
    """

    def __init__(self, backend: str, jobs: int | None, settings: dict[str, Any]) -> None:
        import joblib

        self.backend, self.settings = backend, settings
        self.jobs = jobs or (joblib.cpu_count() if self.is_local else None)

    @property
    def is_local(self) -> bool:
        """Test whether all workers end with this process."""
        return self.backend == LOCAL

    @property
    def most(self) -> int | None:
        """The most calls to hand out at once; None for no limit."""
        return _BLOCK if self.backend in _TELL_AT_THE_END else None

    def results(self, calls: Iterable[Any], *, alone: bool = False) -> Generator[Any, None, None]:
        """Yield the results of calls as they come.

        Args:
            calls: made by `joblib.delayed`.
            alone: only one at a time.

        Raises:
            Exception: a process died, or was not to be had.
        """
        import joblib

        at_once = 1 if alone else self.jobs
        as_list = self.backend in _TELL_AT_THE_END
        backend = local.NAME if self.is_local else self.backend
        with joblib.parallel_config(backend, **self.settings):
            # With one job joblib would work in this process, which is to survive.
            parallel = joblib.Parallel(
                n_jobs=-1 if at_once is None else max(2, at_once),
                return_as="list" if as_list else "generator_unordered",
                pre_dispatch="n_jobs" if at_once is None else at_once,
                batch_size=1,
                max_nbytes=None,
            )
        with local.starting() if self.is_local else contextlib.nullcontext():
            results = parallel(calls)
        if as_list:
            yield from results
            return
        with contextlib.closing(results):  # ends the processes where the work is left
            yield from results


@contextlib.contextmanager
def pool_of(
    backend: str, jobs: int | None, address: str | None, *, reusable: bool = True
) -> Iterator[Pool]:
    """Return the pool of a backend.

    Args:
        backend: joblib's name for that, or "dask", or "ray".
        jobs: how many calls at once; None for as many as there are processors.
        address: of a cluster.
        reusable: let processes of this machine wait for more work when this is done.

    Raises:
        BatchError: it is not there.
    """
    with contextlib.ExitStack() as stack:
        settings: dict[str, Any] = {}
        try:
            if backend == "dask":
                from . import dask

                backend, settings["client"] = dask.NAME, stack.enter_context(dask.client(address))
                settings["wait_for_workers_timeout"] = dask.WORKERS_TIMEOUT
            elif backend == "ray":
                from . import ray

                backend = ray.NAME
                stack.enter_context(ray.client(address))
            elif address is not None:
                raise BatchError("an address needs a cluster; choose one with --backend")
            elif backend == LOCAL:
                local.register()
            pool = Pool(backend, jobs, settings)
        except ImportError as error:
            raise BatchError(
                f"the backend '{backend}' is not installed here: {error}; install it with"
                f" pip install 'straightline[{backend}]'"
            ) from error
        yield pool
        if pool.is_local and not reusable:
            from joblib.externals.loky import get_reusable_executor

            get_reusable_executor().shutdown()
