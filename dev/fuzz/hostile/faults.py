"""What goes wrong around a good model: a full disk, a kill, no rights, a target that is no file."""

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from attack import Attack, on_model
from case import loop, model, tensor
from onnx.helper import make_node

WITHIN = ("rewrite", "convert")
"""Those that need no file of Python's own that nobody may read."""

WRITING = ("rewrite", "convert", "prove", "accelerate")


def attacks(rng: random.Random, folder: Path) -> Iterator[Attack]:
    inside = folder / "in"
    inside.mkdir()
    path = inside / "model.onnx"
    size = rng.choice((3, 3, 100_000))
    whole = model(
        [loop("n", [make_node("Add", ["s", "w"], ["t"])], [("x", "s", "t", [size])])],
        [("x", [size])],
        [("t_out", [size])],
        [tensor("w", np.ones(size, np.float32)), tensor("n", rng.choice((2, 2, 300)))],
    )
    path.write_bytes(whole.SerializeToString())
    kind = rng.choice(KINDS)
    yield kind(rng, path)


def full_disk(rng, path):
    earlier(rng, path)
    return on_model(
        rng,
        "full disk",
        path,
        WRITING,
        limits={"RLIMIT_FSIZE": rng.choice((0, 1, 100, 4096, 200_000))},
    )


def killed(rng, path):
    earlier(rng, path)
    number = rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP))
    codes = (0, 1, 130, -number, 128 + number)
    return on_model(
        rng, f"{number.name}", path, WRITING, signal=(number, rng.random() * 0.6), codes=codes
    )


def few_files(rng, path):
    return on_model(rng, "few files", path, WRITING, limits={"RLIMIT_NOFILE": rng.randrange(3, 12)})


def read_only(rng, path):
    path.chmod(0o644)
    path.parent.chmod(0o555)
    return on_model(rng, "read-only folder", path, WITHIN, harmless=True)


def unreadable(rng, path):
    path.chmod(0)
    return on_model(rng, "unreadable model", path, WITHIN, harmless=True)


def itself(rng, path):
    made = on_model(rng, "target itself", path, WRITING)
    name = rng.choice(("model.onnx", "./model.onnx", "link.onnx", "../in/model.onnx", "hard.onnx"))
    (path.parent / "link.onnx").symlink_to("model.onnx")
    os.link(path, path.parent / "hard.onnx")
    return to(made, path.parent / name, force=rng.random() < 0.5)


def no_file(rng, path):
    """A target that is a folder, a pipe, a device, under a file, or in no folder."""
    (path.parent / "pipe").symlink_to("/nowhere/at/all")
    name = rng.choice(
        (
            ".",
            "",
            "/dev/full",
            "/dev/null",
            "model.onnx/out",
            "missing/out",
            "pipe",
            "x" * 300,
            "a\0b",
        )
    )
    made = on_model(rng, f"target {name[:20]!r}", path, WRITING)
    return to(
        made, str(path.parent / name) if "/dev" not in name else name, force=rng.random() < 0.5
    )


def exists(rng, path):
    earlier(rng, path)
    return on_model(rng, "target exists", path, WRITING)


KINDS = (full_disk, killed, killed, few_files, read_only, unreadable, itself, no_file, exists)


def earlier(rng, path):
    """Perhaps there is a file where the result goes."""
    if rng.random() < 0.5:
        path.with_name("out.onnx").write_bytes(path.read_bytes())


def to(made: Attack, target, *, force: bool) -> Attack:
    from dataclasses import replace

    given = [str(target) if part == str(made.target) else part for part in made.arguments]
    given += ["--force"] if force else []
    own = Path(str(target).replace("\0", ""))
    return replace(
        made, arguments=tuple(given), target=own, replaces="itself" in made.name, codes=(0, 1, 2, 5)
    )
