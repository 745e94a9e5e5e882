"""Running an attack in a copy of this process, which has everything imported, under limits."""

import hashlib
import importlib
import os
import resource
import shutil
import signal
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from attack import Attack
from children import PEAK_MB, SECONDS, ProcessEnd

_ADDRESSES = 6 << 30
_WAITS = 6
"""So many times longer than its processor time a child may take on a busy machine."""

PRELOADED = (
    *("zoneinfo", "onnx.reference.ops._op_list", "straightline.driver.inspect",
     "straightline.verification.proof.prove"),
    *("straightline.reference.interpreter.evaluator", "straightline.driver.calls",
     "straightline.verification"),
    *("straightline.version_converter.convert", "straightline.cli.commands",
     "straightline.__main__"))  # fmt: skip

NOBODY = 65534


def preload() -> None:
    """Import what children need, once for all."""
    for name in PRELOADED:
        importlib.import_module(name)


def run(attack: Attack, folder: Path, seconds: float = SECONDS) -> ProcessEnd:
    """What became of an attack whose files are in a folder."""
    before = contents(folder)
    said = folder.parent / f"{folder.name}.said"
    work = folder / "in" if (folder / "in").is_dir() else folder
    status, usage, timely = in_child(lambda: _command(attack), said, work, attack, seconds)
    text = said.read_text(errors="replace")
    code = os.waitstatus_to_exitcode(status)
    spent, peak = spent_by(said, usage), usage.ru_maxrss / 1024
    late = spent >= int(seconds) or not timely or code == -signal.SIGXCPU
    faults = [*_faults(attack, code, text, late, peak), *_damage(attack, before, folder, code)]
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return ProcessEnd(spent, peak, code, lines[-1] if lines else "", tuple(faults))


def _command(attack: Attack) -> int:
    from straightline.__main__ import main

    sys.argv = ["straightline", *attack.arguments]
    try:
        main()
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else int(error.code is not None)
    return 0


def in_child(work: Callable[[], int], said: Path, place: Path, attack: Attack | None, seconds):
    """Status and usage of a child, and whether it ended before the clock ran out."""
    sys.stdout.flush()
    sys.stderr.flush()
    said.touch()  # a signal may come before the child has said anything
    child = os.fork()
    if child == 0:
        code = 70
        try:
            _settle(said, place, attack, seconds)
            code = work()
            _tell_used(said)
        except BaseException:  # noqa: BLE001 - the child must not go on as the parent
            import traceback

            traceback.print_exc()
        finally:
            with suppress(OSError, ValueError):
                sys.stdout.flush()
            with suppress(OSError, ValueError):
                sys.stderr.flush()
            os._exit(code)
    ended = threading.Event()
    timers = [threading.Timer(_WAITS * seconds, lambda: (ended.set(), _end(child, signal.SIGKILL)))]
    if attack is not None and attack.signal is not None:
        number, after = attack.signal
        timers.append(threading.Timer(after, lambda: _end(child, number)))
    for timer in timers:
        timer.start()
    _, status, usage = os.wait4(child, 0)
    for timer in timers:
        timer.cancel()
    with suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)  # what it has started
    return status, usage, not ended.is_set()


def _tell_used(said: Path) -> None:
    """What this process has used, without the runtimes that it has started."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    with suppress(OSError):
        said.with_suffix(".used").write_text(str(used.ru_utime + used.ru_stime))


def spent_by(said: Path, usage) -> float:
    """Seconds of a child; with what it has started, where it did not come to tell."""
    told = said.with_suffix(".used")
    text = told.read_text() if told.exists() else ""
    told.unlink(missing_ok=True)
    return float(text) if text else usage.ru_utime + usage.ru_stime


def _end(child: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(child, number)


def _settle(said: Path, place: Path, attack: Attack | None, seconds: float) -> None:
    """Make this child what a shell would have started."""
    os.setsid()
    log = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
    nothing = os.open(os.devnull, os.O_RDONLY)
    for target, source in ((0, nothing), (1, log), (2, log)):
        os.dup2(source, target)
    for descriptor in (log, nothing):
        os.close(descriptor)
    os.chdir(place)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    resource.setrlimit(resource.RLIMIT_AS, (_ADDRESSES, _ADDRESSES))
    for name, value in (attack.limits if attack else {}).items():
        resource.setrlimit(getattr(resource, name), (value, value))
    if attack is not None and attack.harmless and os.getuid() == 0:
        os.setgid(NOBODY)
        os.setuid(NOBODY)


def contents(folder: Path) -> dict[str, str]:
    """Every file below a folder, and what it holds."""
    return {str(p.relative_to(folder)): digest(p) for p in sorted(folder.rglob("*"))}


def digest(path: Path) -> str:
    """What a file holds; of what is no file, or a large one, what it is."""
    told = path.lstat()
    if stat.S_ISREG(told.st_mode) and told.st_size < 1 << 24:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    return f"{stat.S_IFMT(told.st_mode)} {told.st_size}"


def _faults(attack: Attack, code: int, text: str, late: bool, peak: float):
    if late:
        yield "hang"
    elif code < 0 and code not in attack.codes:
        yield "crash"
    if peak > PEAK_MB:
        yield "peak"
    if "Traceback (most recent call last)" in text:
        yield "traceback"
    if "secretsecret" in text:
        yield "secret told"
    if code >= 0 and code not in attack.codes and not late:
        yield f"exit {code}"
    if code > 0 and not text.strip() and "RLIMIT_FSIZE" not in attack.limits and not attack.signal:
        yield "no word"


def _damage(attack: Attack, before: dict[str, str], folder: Path, code: int):
    """What happened to files that should not have, or is left of what was not finished."""
    after = contents(folder)
    target = attack.target.name if attack.target else "out.onnx"
    killed = code == -signal.SIGKILL
    for name, content in before.items():
        if after.get(name) != content and Path(name).name != target and not attack.replaces:
            yield "file lost"
    for name in after.keys() - before.keys():
        is_result = Path(name).name.startswith(target) and code == 0
        is_result |= Path(name).name == target and attack.signal is not None  # it came too late
        is_result |= not {"-o", "--out"}.isdisjoint(attack.arguments)  # kept to go on with
        if not (is_result or attack.target is None or killed):
            yield f"left behind {name}"
    for name in after:
        if Path(name).name == target and after[name] != before.get(name):
            if code not in (0, *attack.codes):
                yield "written on failure"
            if not whole(folder / name):
                yield "half written"
            if b"secretsecret" in (folder / name).read_bytes():
                yield "secret written"


def whole(path: Path) -> bool:
    """Whether a model can be read with all its data."""

    def load() -> int:
        import onnx

        onnx.load(path, load_external_data=False)
        return 0

    said = path.parent / "whole.said"
    status, _, _ = in_child(load, said, path.parent, None, SECONDS)
    said.unlink()
    return os.waitstatus_to_exitcode(status) == 0


def cleared(folder: Path) -> None:
    """Remove a folder, be it read-only or not."""
    for path in [folder, *folder.rglob("*")]:
        if path.is_dir() and not path.is_symlink():
            path.chmod(0o755)
    shutil.rmtree(folder)
