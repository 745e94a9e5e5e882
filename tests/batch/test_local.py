import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from straightline.batch import BatchError, local
from straightline.batch.local import _require_no_module_here

UNIX = pytest.mark.skipif(sys.platform == "win32", reason="no such signals here")
MODULES = ("joblib", "multiprocessing", "runpy", "pickle", "numpy", "onnx")
PROGRAM = """
import sys
from pathlib import Path
sys.path[:] = [path for path in sys.path if path]
import joblib
from straightline.batch.local import removed_at_any_end
from straightline.batch.pools import LOCAL, pool_of

def wait(number):
    import ctypes, os
    Path(f"pid-{number}").write_text(str(os.getpid()))
    ctypes.PyDLL(None).sleep(600)  # native code that keeps every thread of Python waiting
    Path("late").touch()

Path("made").mkdir()
Path("made/part").touch()
with pool_of(LOCAL, 2, None) as pool, removed_at_any_end(Path("made").absolute()):
    list(pool.results(joblib.delayed(wait)(number) for number in range(2)))
"""


def wait_for(condition, seconds=60):
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end
        time.sleep(0.05)
    return found


def alive(pid):
    """Whether a process runs; one that ended may wait for its parent to look."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.sample(1)
@UNIX
@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere native code ends first")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_end_with_their_parent(number, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    parent = subprocess.Popen([sys.executable, program], stderr=subprocess.PIPE)
    files = [Path(f"pid-{number}") for number in range(2)]
    pids = wait_for(lambda: all(f.exists() and f.read_text() for f in files)) and [
        int(file.read_text()) for file in files
    ]
    assert all(map(alive, pids))
    parent.send_signal(number)
    parent.wait()
    wait_for(lambda: not any(map(alive, pids)), 30)
    wait_for(lambda: not Path("made").exists(), 30)
    assert not Path("late").exists()
    assert "Traceback" not in parent.stderr.read().decode()


@UNIX
@pytest.mark.skipif(not local._HAS_SAFE_PATH, reason="such a folder is refused here")
def test_no_file_of_the_working_folder_is_run(tmp_path):
    for name in MODULES:
        Path(f"{name}.py").write_text("from pathlib import Path\nPath('run').touch()\n1 / 0\n")
    program = tmp_path / "elsewhere" / "program.py"
    program.parent.mkdir()
    program.write_text(PROGRAM.replace("sleep(600)", "sleep(0)"))
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert Path("late").exists() and not Path("run").exists()
    assert Path("made").exists(), "the work removes it where it comes to its end"


def test_a_folder_with_the_name_of_a_module_is_refused_where_python_would_run_it():
    Path("models").mkdir(exist_ok=True)
    Path("mine.py").touch()
    _require_no_module_here()
    Path("numpy.py").touch()
    with pytest.raises(BatchError, match=r"'numpy.py' in the current folder has the name"):
        _require_no_module_here()
    Path("numpy.py").unlink()
    Path("queue").mkdir()
    with pytest.raises(BatchError, match="'queue'"):
        _require_no_module_here()
