"""joblib's way to a dask cluster, such that calls that are lost end, too."""

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

from .errors import BatchError

NAME = "straightline-dask"
TIMEOUT = 30
WORKERS_TIMEOUT = 60  # seconds in which a worker that died is replaced, on a busy machine too


class _Lost:
    """The result of a call that none came of."""

    def __init__(self, result: Any) -> None:
        self.error: BaseException = RuntimeError("the call was cancelled")
        if isinstance(result, tuple) and len(result) > 1 and isinstance(result[1], BaseException):
            self.error = result[1]


@contextlib.contextmanager
def client(address: str | None) -> Iterator[Any]:
    """A connection to a cluster; without an address the one that the process has already.

    Raises:
        BatchError: there is none.
        ImportError: dask.distributed is not installed.
    """
    from distributed import Client, get_client

    _register()
    if address is None:
        try:
            yield get_client()
        except ValueError:
            raise BatchError(
                "no dask cluster is connected; name its address with --address tcp://..."
            ) from None
        return
    try:
        connected = Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError) as error:
        raise BatchError(
            f"cannot reach a dask cluster at '{address}': {' '.join(str(error).split())}"
        ) from error
    with connected:
        yield connected


def _register() -> None:
    """Let joblib know the backend."""
    import joblib
    from joblib._dask import DaskDistributedBackend

    class Backend(DaskDistributedBackend):  # type: ignore[misc]
        """The backend of joblib, which would wait for ever for a call whose workers died: it calls
        back only where there is a result; and with one worker would work in this process."""

        def effective_n_jobs(self, n_jobs: int) -> int:
            return max(2, int(super().effective_n_jobs(n_jobs)))

        async def _collect(self) -> None:
            while self._continue:
                async for future, result in self.waiting_futures:
                    promise, callback = self._results.pop(future), self._callbacks.pop(future)
                    answer = result if future.status == "finished" else _Lost(result)
                    promise.set_result(answer)
                    callback(answer)
                await asyncio.sleep(0.01)

        def retrieve_result_callback(self, out: Any) -> Any:
            if isinstance(out, _Lost):
                raise out.error
            return super().retrieve_result_callback(out)

    joblib.register_parallel_backend(NAME, Backend)
