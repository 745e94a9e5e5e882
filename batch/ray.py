"""joblib's way to a ray cluster: each call is a task of its own.

The backend that ray brings for joblib keeps a pool of actors: it tells no result before the last
one, and when an actor dies the pool is lost.
"""

import contextlib
import logging
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from .errors import BatchError

NAME = "straightline-ray"
TIMEOUT = 30
_AGAIN = 1
"""How often ray begins a call again whose worker has died; after that it fails."""


@contextlib.contextmanager
def client(address: str | None) -> Iterator[None]:
    """A connection to a cluster; without an address the one that the process has already.

    Raises:
        BatchError: there is none, or it has no workers.
        ImportError: ray is not installed.
    """
    import ray

    _register()
    connected = ray.is_initialized()
    if address is None and not connected:
        raise BatchError(
            "no ray cluster is connected; name its address with --address 10.0.0.1:6379 or"
            " ray://10.0.0.1:10001"
        )
    if address is not None and connected:
        raise BatchError(
            "this process is already connected to a ray cluster; leave out the address"
        )
    if not connected:
        try:
            _knock(address or "")
            ray.init(address, log_to_driver=False, logging_level=logging.ERROR)
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:
            raise BatchError(
                f"cannot reach a ray cluster at '{address}': {' '.join(str(error).split())}"
            ) from error
    try:
        if not ray.cluster_resources().get("CPU"):
            raise BatchError("the ray cluster has no workers; start one with ray start")
        yield
    finally:
        if not connected:
            ray.shutdown()


def _knock(address: str) -> None:
    """Find out whether anything answers at an address, which ray itself tries for minutes.

    Raises:
        OSError: nothing does, or it is none.
    """
    host, colon, port = address.removeprefix("ray://").rpartition(":")
    if colon and port.isdecimal():
        socket.create_connection((host.strip("[]"), int(port)), TIMEOUT).close()
    elif address not in ("auto", "local"):
        raise OSError("an address is HOST:PORT, ray://HOST:PORT or auto")


def _register() -> None:
    """Let joblib know the backend."""
    import joblib
    import ray
    from joblib._parallel_backends import ParallelBackendBase

    @ray.remote(num_cpus=1, max_retries=_AGAIN)  # type: ignore[untyped-decorator, unused-ignore]
    def called(call: Callable[[], Any]) -> Any:
        return call()

    class Backend(ParallelBackendBase):  # type: ignore[misc]
        """Calls as tasks of ray."""

        supports_retrieve_callback = True
        default_n_jobs = -1

        def configure(self, n_jobs: int = 1, parallel: Any = None, **settings: Any) -> int:
            self.parallel = parallel
            self._refs: set[Any] = set()
            # What follows a result hands out more, for which ray's own thread may not wait.
            self._thread = ThreadPoolExecutor(1)
            return self.effective_n_jobs(n_jobs)

        def effective_n_jobs(self, n_jobs: int) -> int:
            workers = int(ray.cluster_resources().get("CPU", 0))
            # With one job joblib would work in this process, which is to survive.
            return max(2, workers if n_jobs < 0 else n_jobs)

        def submit(self, func: Callable[[], Any], callback: Any = None) -> Future[Any]:
            ref = called.remote(func)
            self._refs.add(ref)
            future: Future[Any] = ref.future()

            def done(result: Future[Any]) -> None:
                self._refs.discard(ref)
                with contextlib.suppress(RuntimeError):  # it was all given up
                    self._thread.submit(callback, result)

            future.add_done_callback(done)
            return future

        apply_async = submit  # what joblib called it before 1.5

        def retrieve_result_callback(self, out: Future[Any]) -> Any:
            return out.result()

        def abort_everything(self, ensure_ready: bool = True) -> None:
            for ref in list(self._refs):
                ray.cancel(ref, force=True)
            if ensure_ready:
                self.configure(n_jobs=self.parallel.n_jobs, parallel=self.parallel)

        def terminate(self) -> None:
            self._thread.shutdown(wait=False, cancel_futures=True)

    joblib.register_parallel_backend(NAME, Backend)
