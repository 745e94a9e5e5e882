"""Each model in each client at each step."""

from collections.abc import Iterator, Mapping, Sequence

import straightline as sl

from .client import Client
from .client_run import ClientRun, Status, classify, essence
from .corpus import Subject
from .running import SECONDS, Worker
from .steps import AS_IT_IS, STEPS, Step


def compared(
    client: Client,
    subjects: Sequence[Subject],
    seconds: int = SECONDS,
    steps: Mapping[str, Step] = STEPS,
) -> Iterator[ClientRun]:
    """Outcomes of a client for models in each step, one after the other.

    Raises:
        ChildError: the client cannot be imported, or its process ended.
    """
    with Worker(client, seconds) as worker:
        for subject in subjects:
            yield from _outcomes(client, subject, worker, steps)


def _outcomes(
    client: Client, subject: Subject, worker: Worker, steps: Mapping[str, Step]
) -> Iterator[ClientRun]:
    seen: dict[bytes, tuple[Status, str]] = {}
    for step, make in steps.items():
        try:
            model = make(subject, client).SerializeToString(deterministic=True)
        except sl.Error as error:
            yield ClientRun(subject.name, client.name, step, "not made", essence(str(error)))
            continue
        if model not in seen:  # a step may have nothing to do
            feeds = subject.feeds if step == AS_IT_IS else subject.remaining
            seen[model] = classify(worker.run(model, feeds), subject.expected)
        yield ClientRun(subject.name, client.name, step, *seen[model])
