"""Hostile runs from seeds: a line for each fault, then counts by class.

    PYTHONPATH=tests/support python dev/fuzz/hostile/seeded.py --seeds 100
    PYTHONPATH=tests/support python dev/fuzz/hostile/seeded.py --first 17 --seeds 1 bombs

Seed N of a class always makes the same files and commands.
"""

import argparse
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import bombs
import changed
import faults
import forks
import misuse
import stored
from children import SECONDS

CLASSES = {module.__name__: module for module in (bombs, changed, stored, faults, misuse)}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "which", nargs="*", choices=[[], *CLASSES], help="classes; all where none is given"
    )
    parser.add_argument("--seeds", type=int, default=40, help="so many of each class")
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=SECONDS)
    parser.add_argument("--keep", type=Path, help="where the files of faults are kept")
    parser.add_argument("--loud", action="store_true", help="a line for each run")
    options = parser.parse_args()
    forks.preload()
    counts: Counter[str] = Counter()
    begin = time.perf_counter()
    for seed in range(options.first, options.first + options.seeds):
        for name in options.which or CLASSES:
            for line, found in outcomes(name, seed, options.seconds, options.keep):
                counts.update([f"runs of {name}", *found.faults])
                if found.faults or options.loud:
                    print(line, flush=True)
    print(", ".join(f"{count} {what}" for what, count in sorted(counts.items())))
    print(f"{time.perf_counter() - begin:.0f} seconds")
    return int(any(not what.startswith("runs of ") for what in counts))


def outcomes(name: str, seed: int, seconds: float = SECONDS, keep: Path | None = None):
    """What became of each run of a seed, with a line that tells of it."""
    folder = Path(tempfile.mkdtemp(prefix="hostile-"))
    folder.chmod(0o755)
    files = folder / "files"
    try:
        for index, attack in enumerate(made(name, seed, files)):
            found = forks.run(attack, files, seconds)
            told = " ".join(found.faults) or "-"
            line = (
                f"{name}:{seed}.{index} {attack.name}: {told} ({found.seconds:.1f} s,"
                f" {found.peak_mb:.0f} MB, exit {found.code}) {found.last[:160]!r}"
            )
            if found.faults and keep is not None:
                kept(attack, files, keep / f"{name}-{seed}-{index}")
            yield line, found
    finally:
        forks.cleared(folder)


def made(name: str, seed: int, files: Path):
    """The attacks of a seed, each on files that are made anew."""
    count = index = 0
    while index <= count:
        if files.exists():
            forks.cleared(files)
        files.mkdir()
        attacks = list(CLASSES[name].attacks(random.Random(f"{name}:{seed}"), files))
        count = len(attacks) - 1
        yield attacks[index]
        index += 1


def kept(attack, files: Path, to: Path) -> None:
    """Keep the files of a fault that are no larger than such files are, and its command."""
    to.mkdir(parents=True, exist_ok=True)
    (to / "command").write_text(repr(attack.arguments))
    for path in files.rglob("*"):
        if path.is_file() and not path.is_symlink() and path.stat().st_size < 1 << 24:
            (to / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    sys.exit(main())
