"""`python -m straightline`, and the command `straightline`: the command line as a process."""

import atexit
import gc
import os
import sys

from .cli import interrupts

_MANY = 300000
"""So many more objects are made before the collector looks for cycles. Imports make many and drop
few: looking after every 700, as Python does, is a tenth of the time of a small rewrite."""


def main() -> None:
    """Run the command line."""
    interrupts.take_over()  # before anything that takes its time to import
    gc.set_threshold(_MANY)
    exit_code: list[int] = []
    if not atexit._ncallbacks():  # else functions of others would have their turn after this one
        atexit.register(_leave, exit_code)
    if sys.argv[1:] == ["--version"] and sys.stdout is not None and _has_printed_version():
        return
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
    if {"-h", "--help"}.isdisjoint(sys.argv):  # a page of help has no stages
        from .limits.stage_clock import leave_out_imports

        leave_out_imports()
    from .cli.commands import app
    from .cli.piping import OWN_PROCESS
    from .cli.terminal import prepare_streams

    prepare_streams()
    try:
        app(prog_name="straightline", obj=OWN_PROCESS)
    except SystemExit as end:
        exit_code += [end.code] if isinstance(end.code, int) else []
        raise
    finally:
        # What is left goes with the process; looking through it for cycles would take longer.
        gc.freeze()


def _leave(exit_code: list[int]) -> None:
    """End the process, of which Python would take apart every object for 15 ms."""
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        return  # Python reports it
    if exit_code:
        os._exit(exit_code[0])


def _has_printed_version() -> bool:
    """Print the version without the command line, which reports a stream that cannot be written."""
    from .cli.version import print_version

    try:
        print_version()
        sys.stdout.flush()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
