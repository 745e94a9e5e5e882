"""Clients that install from the package registry, on models with control flow: before and after.

    python -m straightline.benchmarks.clients [--client NAME ...] [--only TEXT] [--json FILE]
        [--with FILE ...] [--write]

Each model is given to each client as it is, rewritten, converted to the client's opset, and with
fixed sizes: in a process of its own, under limits of time and memory. Outputs are compared with
those of the reference. `--write` puts the table into docs/clients.md, with what `--json` kept of
other clients where `--with` names it. What is not installed is left out and named; to install all
of them: make clients.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from pathlib import Path

from .client import CLIENTS, Client
from .comparing import compared
from .corpus import Subject, subjects
from .outcome import Outcome, Results
from .running import SECONDS
from .table import tables

PAGE = Path(__file__).resolve().parents[2] / "docs" / "clients.md"
BEGIN, END = "<!-- made by make clients -->\n", "<!-- to here -->"


def main() -> None:
    options = _options()
    found = Results({}, [])
    for file in options.kept:
        found.add(Results.read(Path(file)))
    wanted = [client for client in _chosen(options.client) if client.name not in found.versions]
    lacking = [client for client in wanted if client.lacking]
    for client in lacking:
        _say(f"{client.name} is left out: {', '.join(client.lacking)} not installed")
    there = [client for client in wanted if not client.lacking]
    if not there and not found.versions:
        sys.exit("error: no client is installed; make clients installs them")
    if there:
        models = list(itertools.islice(subjects(options.only), 0, None, options.every))
        if not models:
            sys.exit(f"error: no model has '{options.only}' in its name")
        found.add(_measured(there, models, options.seconds))
    if options.json:
        found.write(Path(options.json))
    made = _head(lacking) + tables(found.outcomes, found.versions)
    if options.write:
        written(PAGE, made)
    else:
        print(made)


def _options() -> argparse.Namespace:
    about = (__doc__ or "").partition("\n")[0]
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=about)
    names = [client.name for client in CLIENTS]
    parser.add_argument("--client", action="append", choices=names, help="these alone")
    parser.add_argument("--only", default="", help="models whose name holds this")
    parser.add_argument("--every", type=int, default=1, help="only each so-manieth model")
    parser.add_argument("--seconds", type=int, default=SECONDS, help="for each run of a client")
    parser.add_argument("--json", help="a file for what became of each model")
    kept = {"dest": "kept", "action": "append", "default": [], "metavar": "FILE"}
    parser.add_argument("--with", **kept, help="what --json kept, instead of measuring it again")
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    return parser.parse_args()


def _chosen(names: list[str] | None) -> list[Client]:
    return [client for client in CLIENTS if not names or client.name in names]


def _measured(clients: list[Client], models: list[Subject], seconds: int) -> Results:
    outcomes: list[Outcome] = []
    for client in clients:
        start, found = time.time(), []
        for outcome in compared(client, models, seconds):
            found.append(outcome)
            if outcome.status != "right":
                _say(f"  {outcome.step}: {outcome.model}: {outcome.status}: {outcome.reason}")
        counts = Counter(outcome.step for outcome in found if outcome.status == "right")
        _say(f"{client.name}: {dict(counts)} of {len(models)} in {time.time() - start:.0f} s")
        outcomes += found
    return Results({client.name: client.versions for client in clients}, outcomes)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _head(lacking: list[Client]) -> str:
    left_out = ", ".join(client.name for client in lacking)
    return f"Measured on {time.strftime('%Y-%m-%d')}." + (
        f" Not installed: {left_out}.\n\n" if left_out else "\n\n"
    )


def written(page: Path, made: str) -> None:
    """Put what was made between the marks of a page."""
    head, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, _, tail = rest.partition(END)
    page.write_text(f"{head}{BEGIN}\n{made}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
