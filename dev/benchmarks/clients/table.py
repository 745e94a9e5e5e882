"""What was found, as the tables of docs/clients.md."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from .client_run import ClientRun, operators_in

_LONGEST = 110
_MOST = 12
"""So many reasons are told for each client."""
_EXAMPLES = 2

STATUSES = {
    "wrong": "other outputs",
    "not loaded": "not loaded",
    "not run": "not run",
    "late": "too slow",
    "not made": "step refused",
}
"""What hinders, in words."""


def tables(outcomes: Sequence[ClientRun], versions: Mapping[str, str], of: str = "") -> str:
    """Counts of clients and steps, then for each client what stays.

    Args:
        outcomes: of all clients, models and steps.
        versions: client to name and version, in the order of the table.
        of: the models, for the heading of the second table.
    """
    steps = list(dict.fromkeys(outcome.step for outcome in outcomes))
    lines = ["Models that run with the right outputs:", ""]
    lines += _rows(["client", "models", *steps], _counts(outcomes, versions, steps))
    stays = list(_stays(outcomes, steps[-1]))
    if stays:
        lines += ["", f"## What stays{of}", ""]
        lines += [f"After the last step ({steps[-1]}), by the client's message:", ""]
        lines += _rows(["client", "models", "what", "why", "such as"], stays)
    return "\n".join(lines) + "\n"


def _counts(
    outcomes: Sequence[ClientRun], versions: Mapping[str, str], steps: Sequence[str]
) -> Iterator[list[str]]:
    found = Counter((outcome.client, outcome.step, outcome.status) for outcome in outcomes)
    for client, version in versions.items():
        cells = [str(len({outcome.model for outcome in outcomes if outcome.client == client}))]
        for step in steps:
            wrong = found[client, step, "wrong"]
            more = f" ({wrong} with other outputs)" if wrong else ""
            cells.append(f"{found[client, step, 'right']}{more}")
        yield [version, *cells]


def _stays(outcomes: Sequence[ClientRun], step: str) -> Iterator[list[str]]:
    """For each client the commonest reasons, with models that show them."""
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for one in outcomes:
        if one.step == step and one.status != "right":
            groups[one.client, STATUSES[one.status], reason_of(one)].append(one.model)
    for client in dict.fromkeys(outcome.client for outcome in outcomes):
        own = [(key, models) for key, models in groups.items() if key[0] == client]
        own.sort(key=lambda pair: -len(pair[1]))
        for (_, what, why), models in own[:_MOST]:
            shown = ", ".join(f"`{model}`" for model in models[:_EXAMPLES])
            yield [client, str(len(models)), what, why, shown]


def reason_of(outcome: ClientRun) -> str:
    """The operators that are named, or what the client says."""
    named = operators_in(outcome.reason)
    if outcome.status == "wrong":  # the numbers differ from model to model
        return outcome.reason.partition(":")[0]
    return ", ".join(named) or _escaped(outcome.reason)


def _escaped(text: str) -> str:
    return "`" + text[:_LONGEST].replace("|", "/").replace("`", "'") + "`" if text else ""


def _rows(head: Sequence[str], rows: Iterable[list[str]]) -> list[str]:
    lines = [list(head), ["---"] * len(head), *rows]
    return [f"| {' | '.join(line)} |" for line in lines]
