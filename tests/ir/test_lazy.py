import os
import signal
import threading

import networkx as nx
import numpy as np
import onnx
import pytest
import straightline as sl
from source_files import ROOT, sources
from straightline.ir.lazy import lazy_property
from texts import HEADER, LOOP

FORKS = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
PATIENCE = 60
"""Seconds after which a child process counts as hanging."""


class Lazy:
    computed = 0

    @lazy_property
    def value(self):
        """The value."""
        self.computed += 1
        return object()


def test_lazy_properties_are_computed_once_for_each_object():
    one, other = Lazy(), Lazy()
    assert one.value is one.value and one.computed == 1
    assert other.computed == 0 and other.value is not one.value
    assert Lazy.value.__doc__ == "The value."


def test_two_threads_get_one_value():
    barrier, found = threading.Barrier(2, timeout=PATIENCE), []

    class Slow:
        @lazy_property
        def value(self):
            barrier.wait()
            return object()

    slow = Slow()
    threads = [threading.Thread(target=lambda: found.append(slow.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1]


def test_no_module_uses_properties_that_lock():
    named = [name for name in sources() if "cached_property" in (ROOT / name).read_text()]
    assert named == ["ir/lazy.py"]


def forked(call):
    """The exit code of a child process that makes a call: 0 where it ends well."""
    child = os.fork()
    if child == 0:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE)
        code = 1
        try:
            call()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@FORKS
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("kind", ["ours", "networkx", "numpy"])
def test_a_child_does_not_wait_for_a_thread_of_its_parent(kind):
    begun, ended = threading.Event(), threading.Event()

    class Slow:
        @lazy_property
        def value(self):
            begun.set()
            ended.wait(PATIENCE)

    properties = {"networkx": nx.DiGraph.__dict__["adj"], "numpy": np.finfo.__dict__.get("tiny")}
    lock = getattr(properties.get(kind), "lock", None)

    def compute():
        if lock is None:
            Slow().value  # noqa: B018
        else:
            with lock:
                begun.set()
                ended.wait(PATIENCE)

    thread = threading.Thread(target=compute)
    thread.start()
    begun.wait(PATIENCE)
    try:
        code = forked(lambda: (Lazy().value, nx.DiGraph().adj, np.finfo(np.float16).tiny))
    finally:
        ended.set()
        thread.join()
    assert code == 0


@FORKS
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_children_rewrite_while_threads_of_the_parent_do():
    model = onnx.parser.parse_model(HEADER + LOOP)
    expected = sl.rewrite(model)  # everything is imported now
    over = threading.Event()

    def rewrite():
        while not over.is_set():
            sl.rewrite(model)

    threads = [threading.Thread(target=rewrite) for _ in range(2)]
    for thread in threads:
        thread.start()

    def check():
        assert sl.rewrite(model) == expected

    try:
        codes = [forked(check) for _ in range(4)]
    finally:
        over.set()
        for thread in threads:
            thread.join()
    assert codes == [0] * 4
