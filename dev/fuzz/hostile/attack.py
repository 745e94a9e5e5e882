"""What a seed makes: a command on hostile files, and what may go wrong around it."""

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

COMMANDS = {
    "inspect": ("inspect", "{model}"),
    "rewrite": ("rewrite", "{model}", "{target}", "--no-verify"),
    "accelerate": ("rewrite", "{model}", "{target}", "--no-verify", "--passes", "accelerate"),
    "verify": ("rewrite", "{model}", "{target}", "--timeout", "2"),
    "prove": ("rewrite", "{model}", "{target}", "--prove", "--timeout", "2"),
    "convert": ("convert", "{model}", "{target}", "--no-verify", "--opset", "21"),
    "convert-down": ("convert", "{model}", "{target}", "--no-verify", "--opset", "11"),
    "diff": ("diff", "{model}", "{model}"),
}


@dataclass(frozen=True)
class Attack:
    """One run of the command line.

    Attributes:
        name: what it is, for the line that tells of a fault.
        arguments: of the command line.
        target: the file that it may write, and those beside it that begin with its name.
        limits: resource limits by the names that `resource` has, besides those of every run.
        signal: what the process is sent, and after how many seconds.
        harmless: whether it runs without the rights of the administrator.
        replaces: whether the model itself may be what is written.
        codes: exit codes that are no fault.
    """

    name: str
    arguments: tuple[str, ...]
    target: Path | None = None
    limits: dict[str, int] = field(default_factory=dict)
    signal: tuple[int, float] | None = None
    harmless: bool = False
    replaces: bool = False
    codes: tuple[int, ...] = (0, 1, 3, 4, 5)


def on_model(
    rng: random.Random, name: str, model: Path, commands: tuple[str, ...] = (), **more
) -> Attack:
    """A command on a model, any one where none is named."""
    command = rng.choice(commands or tuple(COMMANDS))
    target = model.with_name("out.onnx")
    given = [part.format(model=model, target=target) for part in COMMANDS[command]]
    return Attack(f"{name} {command}", tuple(given), target, **more)


Maker = "Callable[[random.Random, Path], Iterator[Attack]]"


def some(rng: random.Random, name: str, model: Path, count: int) -> Iterator[Attack]:
    """So many different commands on a model."""
    for command in rng.sample(sorted(COMMANDS), count):
        yield on_model(rng, name, model, (command,))
