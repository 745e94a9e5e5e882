import subprocess
import sys
from importlib.metadata import version

from straightline.cli.version import print_version


def test_version_of_the_package(capsys, run):
    print_version()
    assert capsys.readouterr().out == f"{version('straightline')}\n"
    assert run("--version").output.strip() == version("straightline")


def test_a_stream_that_is_full_ends_as_any_command_does():
    program = [sys.executable, "-m", "straightline", "--version"]
    with open("/dev/full", "w") as full:
        ended = subprocess.run(program, check=False, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ended.returncode and ended.stderr.startswith("error: ")
