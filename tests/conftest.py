import functools
import gc
import os
import sys
from pathlib import Path

# Before numpy is loaded: matrices are small here, and each process of the tests works for itself.
for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# A fault that a rewrite survives would hide from the tests: they raise it, in child processes, too.
os.environ["STRAIGHTLINE_FAULTS"] = "raise"

import hypothesis  # noqa: E402
import pytest  # noqa: E402
import typer.testing  # noqa: E402
from depth import DEEP, is_left_out, keep_samples  # noqa: E402
from shared_folders import SharedFolders  # noqa: E402

pytest.register_assert_rewrite("clusters", "commands", "harness", "loops", "straightened")

# How long an example takes says more of the machine than of the code. The same examples are drawn
# each time; `make fuzz` draws others, and many more.
hypothesis.settings.register_profile("no-deadline", deadline=None, derandomize=not DEEP)
hypothesis.settings.load_profile("no-deadline")

# A third of the time of a command in the process of its test: typer makes all commands anew.
typer.testing._get_command = functools.cache(typer.testing._get_command)

FOLDERS = os.environ.pop("STRAIGHTLINE_FOLDERS", None)
"""Marks of the folders of tests that processes share; not for tests of tests."""

MOST_BYTES = 6 << 30
"""Memory of one process of the tests: one that asks for more fails, with its name."""

_STATES = {}
"""The state of each generator of a test's module before its first test."""


def pytest_configure(config):
    # Collections of all objects take two seconds while tests are imported, and seconds at the end.
    gc.set_threshold(1_000_000, 20, 1000)
    config.addinivalue_line("markers", "sample(count): so many of its cases, unless all are to run")
    if FOLDERS is not None:
        config.pluginmanager.register(SharedFolders(Path(FOLDERS).absolute()))
    if (FOLDERS or "PYTEST_XDIST_WORKER" in os.environ) and sys.platform == "linux":
        _limit_memory()


@pytest.hookimpl(trylast=True)  # after the marks that parametrize
def pytest_generate_tests(metafunc):
    keep_samples(metafunc)


def pytest_collection_modifyitems(items):
    from shared_workers import share_workers

    share_workers()
    items[:] = [item for item in items if not is_left_out(item)]
    gc.freeze()  # the tests themselves: no collection visits them again


def pytest_runtest_setup(item):
    """A generator of a test's module begins anew: its numbers depend on no test before."""
    from numpy.random import Generator

    for value in vars(getattr(item, "module", item)).values():
        if isinstance(value, Generator):
            bits = value.bit_generator
            bits.state = _STATES.setdefault(value, bits.state)


def _limit_memory():
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
    lowest = min(limit for limit in (soft, hard, MOST_BYTES) if limit != resource.RLIM_INFINITY)
    resource.setrlimit(resource.RLIMIT_DATA, (lowest, hard))
