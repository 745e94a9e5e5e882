import os
import signal
import subprocess
import sys
import time

import onnx
import pytest
from harness import as_model
from tables import table

INTERRUPTED = (130, "error: interrupted\n")
TERMINATED = (143, "error: terminated\n")
GONE = (129, "error: the terminal is gone\n")
SIGNALS = pytest.mark.parametrize(
    ("name", "ending"), [("SIGINT", INTERRUPTED), ("SIGTERM", TERMINATED), ("SIGHUP", GONE)]
)
TEXT = """g (float[2] x, bool c) => (float[2] y) {
    go = Not (c)
    y = Loop (, go, x) <body = b (int64 i, bool g, float[2] a) => (bool h, float[2] e) {
        h = Identity (g)
        e = Neg (a) }> }"""
"""Runs for ever where it runs."""

AT_IMPORT = """
import os, runpy, signal, sys
class Finder:
    def find_spec(self, name, path, target=None):
        if name == wanted:
            {action}
wanted = sys.argv.pop(1)
sys.argv[0] = "straightline"
sys.meta_path.insert(0, Finder())
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("straightline", run_name="__main__", alter_sys=True)
"""
BEFORE = """
import os, runpy, signal, sys
{patch}
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.argv[0] = "straightline"
runpy.run_module("straightline", run_name="__main__", alter_sys=True)
"""


@pytest.fixture(autouse=True)
def folder(folder):
    onnx.save(as_model(TEXT), "in.onnx")
    return folder


def python(program, *arguments):
    return subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


REWRITE = ("rewrite", "in.onnx", "out.onnx", "--set", "c=true", "--no-verify")
KILL = "signal.raise_signal(signal.SIGINT)"


@pytest.mark.sample(2)
@table("straightline.cli.commands", "typer", "rich.table", "numpy", "onnx", "onnx.helper")
@SIGNALS
def test_while_modules_are_imported(module, name, ending, folder):
    found = python(AT_IMPORT.format(action=KILL.replace("SIGINT", name)), module, *REWRITE)
    assert (found.returncode, found.stderr) == ending
    assert [path.name for path in folder.iterdir()] == ["in.onnx"]


def test_an_import_that_swallows_it():
    action = f"""
            try:
                {KILL}
            except KeyboardInterrupt:
                raise ImportError("no such thing")"""
    found = python(AT_IMPORT.format(action=action), "onnx", *REWRITE)
    assert (found.returncode, found.stderr) == INTERRUPTED


def test_an_import_during_the_work_that_swallows_it(folder):
    folded = """g (float[2] x) => (float[2] y) <float two = {2}, float three = {3}> {
        five = Pow (two, three)
        y = Mul (x, five) }"""
    onnx.save(as_model(folded), "in.onnx")
    action = f"""
            try:
                {KILL}
            except KeyboardInterrupt:
                pass"""
    command = ("rewrite", "in.onnx", "out.onnx", "--no-verify")
    found = python(AT_IMPORT.format(action=action), "onnx.reference", *command)
    assert (found.returncode, found.stderr) == INTERRUPTED
    assert [path.name for path in folder.iterdir()] == ["in.onnx"]


@pytest.mark.sample(2)
@SIGNALS
@table(
    ("while it rewrites", "import straightline.passes.manager.pipeline as p\n"
    f"p.run_passes = lambda *_: {KILL}"),
    ("while it writes", f"os.replace = lambda *_: {KILL}"),
    ("in a destructor", f"""
import time, straightline.passes.manager.pipeline as p
class Odd:
    def __del__(self):
        {KILL}
        time.sleep(0)
def run(*_):
    Odd()
    time.sleep(30)
p.run_passes = run"""))  # fmt: skip
def test_during_the_work(place, text, name, ending, folder):
    result = python(BEFORE.format(patch=text.replace("SIGINT", name)), *REWRITE)
    assert (result.returncode, result.stderr) == ending
    assert [path.name for path in folder.iterdir()] == ["in.onnx"]


def test_once_the_output_stands():
    patch = f"import straightline.cli.report as r\nr.show_outcome = lambda *_, **__: {KILL}"
    result = python(BEFORE.format(patch=patch), *REWRITE)
    assert (result.returncode, result.stderr) == (0, "")
    assert os.path.exists("out.onnx")


def test_an_ignored_signal_stays_ignored():
    program = BEFORE.replace("default_int_handler", "SIG_IGN")
    patch = "import straightline.passes.manager.pipeline as p\nrun = p.run_passes\n"
    patch += f"p.run_passes = lambda *a: ({KILL}, run(*a))[1]"
    assert python(program.format(patch=patch), *REWRITE).returncode == 0


def children(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as stream:
            found += map(int, stream.read().split())
    return found


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


@pytest.mark.sample(1)
@table(
    ("reference", 0, signal.SIGINT, INTERRUPTED),
    ("onnxruntime", 3, signal.SIGINT, INTERRUPTED),
    ("reference", 0, signal.SIGTERM, TERMINATED),
)
def test_while_it_verifies_no_process_is_left(runtime, later, number, ending, folder):
    onnx.save(as_model(TEXT.replace("Not (c)", "Identity (c)")), "in.onnx")
    command = ["rewrite", "in.onnx", "out.onnx", "--runtime", runtime]
    process = subprocess.Popen(
        [sys.executable, "-c", BEFORE.format(patch=""), *command],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    started = wait_for(lambda: children(process.pid))
    time.sleep(later)
    process.send_signal(number)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == ending
    wait_for(lambda: not any(os.path.exists(f"/proc/{pid}") for pid in started), 10)
    assert [path.name for path in folder.iterdir()] == ["in.onnx"]
