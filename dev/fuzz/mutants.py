"""Put small faults into the source and see which of them the tests notice.

    PYTHONPATH=tests/support python dev/fuzz/mutants.py ir versions/adapters --sample 400

See tests/README.md for how to read what it says.
"""

import argparse
import json
import time

from mutation.mutants import Mutant, mutants_of
from mutation.reach import KEPT
from mutation.selection import DEFAULT, sample, source_files
from mutation.session import run
from mutation.table import survivors, table

RESULTS = KEPT / "results.json"


def main() -> None:
    options = arguments()
    if options.show:
        print(named(options.show).diff())
        return
    if options.again:
        kept = json.loads(RESULTS.read_text())
        left = [r["name"] for r in kept if r["status"] in ("survived", "not reached")]
        mutants = [named(name) for name in left]
    else:
        mutants = sample(source_files(options.where or DEFAULT), options.sample, options.seed)
    started = time.monotonic()
    results = run(mutants, options.tests, options.budget)
    KEPT.mkdir(parents=True, exist_ok=True)
    RESULTS.write_text(json.dumps(results, indent=1))
    print(f"\n{survivors(results)}\n\n{table(results)}")
    print(f"\n{time.monotonic() - started:.0f} s; sample {options.sample}, seed {options.seed}")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("where", nargs="*", help=f"files or folders (default: {' '.join(DEFAULT)})")
    parser.add_argument("--sample", type=int, default=400, help="how many mutants; 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=20, help="seconds of tests for one mutant")
    parser.add_argument("--tests", default="*", help="only test files with such names")
    parser.add_argument("--again", action="store_true", help="the survivors of the last run")
    parser.add_argument("--show", metavar="MUTANT", help="show one mutant and try nothing")
    return parser.parse_args()


def named(name: str) -> Mutant:
    """A mutant by its name, such as ir/graph.py@12."""
    path, _, index = name.partition("@")
    return mutants_of(path)[int(index)]


if __name__ == "__main__":
    main()
