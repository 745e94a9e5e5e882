"""Clients that install from the package registry, on models with control flow: before and after.

    python -m straightline.dev.benchmarks.clients [--client NAME ...] [--only TEXT] [--json FILE]
        [--with FILE ...] [--exports FOLDER] [--write]

Each model is given to each client as it is, rewritten, converted to the client's opset, and with
fixed sizes: in a process of its own, under limits of time and memory. Outputs are compared with
those of the reference. `--write` puts the table into docs/clients.md, with what `--json` kept of
other clients where `--with` names it. `--exports` takes the models of a folder instead, which have
a table of their own: NAME.onnx with inputs in NAME.npz. What is not installed or cannot be imported
is left out and named; to install all of them: make clients.
"""

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from .client import CLIENTS, Client
from .client_run import ClientRun, Results
from .comparing import compared
from .corpus import Subject, subjects
from .exported import exported
from .running import SECONDS, ChildError
from .steps import STEPS, STEPS_OF_EXPORTS
from .table import tables

PAGE = Path(__file__).resolve().parents[3] / "docs" / "clients.md"
BEGIN, END = "<!-- made by make clients -->\n", "<!-- to here -->"
BEGIN_OF_EXPORTS = "<!-- made by make clients of exports -->\n"


def main() -> None:
    options = _options()
    found = Results({}, [])
    for file in options.kept:
        found.add(Results.read(Path(file)))
    wanted = [client for client in _chosen(options.client) if client.name not in found.versions]
    left_out = {client.name: client.obstacle for client in wanted if client.obstacle}
    there = [client for client in wanted if client.name not in left_out]
    if not there and not found.versions:
        sys.exit("error: no client is installed; make clients installs them")
    if there:
        every = (
            exported(options.exports, options.only) if options.exports else subjects(options.only)
        )
        models = list(itertools.islice(every, 0, None, options.every))
        if not models:
            sys.exit(f"error: no model has '{options.only}' in its name")
        for client in there:
            try:
                found.add(_measured(client, models, options))
            except ChildError as error:
                left_out[client.name] = str(error)
            _keep(found, options.json)  # after each, so that nothing measured is lost
    for name, reason in left_out.items():
        _say(f"{name} is left out: {reason}")
    _keep(found, options.json)
    if not found.outcomes:
        sys.exit("error: no client ran")
    of = " of the exports" if options.exports else ""
    made = _head(left_out) + tables(found.outcomes, found.versions, of)
    if options.write:
        written(PAGE, made, BEGIN_OF_EXPORTS if options.exports else BEGIN)
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
    parser.add_argument("--exports", type=Path, help="a folder of models and inputs")
    parser.add_argument("--write", action="store_true", help="put the tables into the page")
    return parser.parse_args()


def _chosen(names: list[str] | None) -> list[Client]:
    return [client for client in CLIENTS if not names or client.name in names]


def _measured(client: Client, models: list[Subject], options: argparse.Namespace) -> Results:
    """Outcomes of a client for models, within a time and in the steps for them.

    Raises:
        ChildError: it cannot be imported, or its process ended.
    """
    start, found = time.time(), list[ClientRun]()
    steps = STEPS_OF_EXPORTS if options.exports else STEPS
    for outcome in compared(client, models, options.seconds, steps):
        found.append(outcome)
        if outcome.status != "right":
            _say(f"  {outcome.step}: {outcome.model}: {outcome.status}: {outcome.reason}")
    counts = Counter(outcome.step for outcome in found if outcome.status == "right")
    _say(f"{client.name}: {dict(counts)} of {len(models)} in {time.time() - start:.0f} s")
    return Results({client.name: client.versions}, found)


def _keep(found: Results, file: str | None) -> None:
    if file:
        found.write(Path(file))


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _head(left_out: Mapping[str, str]) -> str:
    told = "; ".join(f"{name} ({reason})" for name, reason in left_out.items())
    return f"Measured on {time.strftime('%Y-%m-%d')}." + (
        f" Left out: {told}.\n\n" if told else "\n\n"
    )


def written(page: Path, made: str, begin: str = BEGIN) -> None:
    """Put what was made between a mark of a page and the next end."""
    head, _, rest = page.read_text(encoding="utf-8").partition(begin)
    _, _, tail = rest.partition(END)
    page.write_text(f"{head}{begin}\n{made}\n{END}{tail}", encoding="utf-8")


if __name__ == "__main__":
    main()
