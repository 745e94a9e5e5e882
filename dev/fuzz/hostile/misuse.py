"""Command lines that are wrong, or strange: drawn from the commands' own options."""

import functools
import random
from collections.abc import Iterator
from pathlib import Path

import mutant_seeds
from attack import Attack

WORDS = (
    *("", "-", "--", "0", "-1", "1", "3.5", "nan", "inf", "1e400", "x", "n=3", "x=1,2", "x=", "=",
     "=3"),
    *("9" * 400, "ä\udc80", "a b", "\n", "{", "unroll-loops{", "unroll-loops{max_trips=-1}",
     "accelerate"),
    *("x=@missing.npy", "@", "1GB", "-5MB", "1.5TB", "[1,2", "nope", "null", "../..", "*", "x:y",
     "ort"),
    *("x=[[1,2],[3]]", "x=1e999", "n=true", "x={}", "inline-ifs,,", ",",
     "unroll-loops{max_trips=1e9}"))  # fmt: skip
SAFE = ("21", "7", "1", "3", "n=2", "x=2,3", "N=2", "unroll-loops", "inline-ifs", "reference")


@functools.cache
def options() -> dict[str, list[tuple[str, bool]]]:
    """The options of each command, and whether they take a value."""
    import typer
    from straightline.cli.commands import app

    group = typer.main.get_command(app)
    return {
        name: [
            (text, not getattr(parameter, "is_flag", False))
            for parameter in command.params
            for text in (*parameter.opts, *parameter.secondary_opts)
            if text.startswith("-")
        ]
        for name, command in group.commands.items()
    }


def attacks(rng: random.Random, folder: Path) -> Iterator[Attack]:
    inside = folder / "in"
    inside.mkdir()
    name = rng.choice(sorted(mutant_seeds.written()))
    (inside / "model.onnx").write_bytes(mutant_seeds.written()[name].SerializeToString())
    (inside / "w.bin").write_bytes(mutant_seeds.DATA)
    (inside / "no.onnx").write_bytes(rng.randbytes(rng.choice((0, 1, 100))))
    for _ in range(2):
        command = rng.choice(sorted(options()))
        given = [command if rng.random() < 0.95 else rng.choice(WORDS)]
        given += rng.choices(
            ("model.onnx", "out.onnx", "no.onnx", "missing.onnx", ".", "*.onnx", "", "-"),
            (9, 6, 1, 1, 1, 1, 1, 1),
            k=rng.choice((0, 1, 2, 2, 2, 2, 3)),
        )
        for text, takes_value in rng.choices(options()[command], k=rng.randrange(5)):
            if text in ("--backend", "--address", "--jobs", "--install-completion", "--report"):
                continue
            given.append(text)
            if takes_value and rng.random() < 0.95:
                given.append(rng.choice(rng.choice((WORDS, SAFE))))
        target = inside / given[2] if len(given) > 2 and "\0" not in given[2] else None
        yield Attack("misuse", tuple(given), target, codes=(0, 1, 2, 3, 4, 5))
