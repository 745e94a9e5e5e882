import subprocess
import sys

import pytest

CHILD = """
import os, sys
from straightline.runtimes import lifeline
if sys.argv[2] == "thread":
    lifeline._opened_again = lambda handle: None
    from time import sleep
else:
    import ctypes
    sleep = ctypes.PyDLL(None).sleep  # it keeps every thread of Python waiting
lifeline.end_with_parent(int(sys.argv[1]))
os.write(1, b"begun\\n")
sleep(600)
"""
PARENT = f"""
import os, subprocess, sys
from straightline.runtimes.lifeline import lifeline
line = lifeline().fileno()
for way in sys.argv[1:]:
    subprocess.Popen([sys.executable, "-c", {CHILD!r}, str(line), way], pass_fds=[line])
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="native code ends at once on Linux only")
def test_children_end_with_a_parent_that_is_killed():
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, "kernel", "kernel", "thread"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as parent:
        assert [parent.stdout.readline() for _ in range(3)] == [b"begun\n"] * 3
        parent.kill()
        assert parent.stdout.read() == b"", "the end of the last child closes the stream"


TYING = """
import subprocess, sys
from straightline.runtimes.lifeline import start_tied
start_tied("(echo begun; sleep 600) & sleep 600", stdout=sys.stdout)
sys.stdin.read()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel kills on Linux only")
def test_a_shell_command_ends_with_a_parent_that_is_killed():
    with subprocess.Popen(
        [sys.executable, "-c", TYING], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as parent:
        assert parent.stdout.readline() == b"begun\n"
        parent.kill()
        assert parent.stdout.read() == b"", "the end of the last process closes the stream"
