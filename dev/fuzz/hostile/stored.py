"""External data that is missing, cut, outside of its folder, a link, a pipe or a folder."""

import os
import random
from collections.abc import Iterator
from pathlib import Path

from attack import Attack, some
from case import loop, model, tensor
from onnx import TensorProto
from onnx.helper import make_node

SECRET = b"secret" * 100
NUMBERS = (
    "0",
    "4",
    "-1",
    "-4",
    "12",
    "1e3",
    "",
    "x",
    str(2**31),
    str(2**63),
    "99999999999999999999",
)


def attacks(rng: random.Random, folder: Path) -> Iterator[Attack]:
    inside = folder / "in"
    inside.mkdir()
    (folder / "secret.bin").write_bytes(SECRET)
    path = inside / "model.onnx"
    kind = rng.choice(KINDS)
    location = kind(rng, inside)
    whole = model(
        [make_node("Mul", ["x", "w"], ["z"]), decided(rng)],
        [("x", [3])],
        [("t_out", [3])],
        [tensor("w", [0.0, 1.0, 2.0]), tensor("n", 2)],
    )
    for name in ("w", "n"):
        if name == "w" or rng.random() < 0.5:
            point(rng, next(t for t in whole.graph.initializer if t.name == name), location)
    path.write_bytes(whole.SerializeToString())
    yield from some(rng, f"external {kind.__name__}", path, 2)


def decided(rng: random.Random):
    read = rng.choice(("s", "s", "w"))
    return loop("n", [make_node("Add", ["s", read], ["t"])], [("z", "s", "t", [3])])


def point(rng, stored, location):
    """Let a tensor lie in a file."""
    stored.ClearField("raw_data")
    stored.data_location = TensorProto.EXTERNAL
    stored.data_type = rng.choice((1, 1, 1, 7, 8, 0, 99))
    stored.external_data.add(key="location", value=location)
    for key in ("offset", "length"):
        if rng.random() < 0.5:
            stored.external_data.add(key=key, value=rng.choice(NUMBERS))
    if rng.random() < 0.1:
        stored.external_data.add(key="location", value="other.bin")
    if rng.random() < 0.2:
        del stored.dims[:]
        stored.dims.extend(rng.choices((0, 1, 3, -1, 2**31, 2**40, 2**62), k=rng.randrange(4)))


def whole(rng, folder):
    (folder / "w.bin").write_bytes(bytes(64))
    return "w.bin"


def missing(rng, folder):
    return "w.bin"


def cut(rng, folder):
    (folder / "w.bin").write_bytes(bytes(rng.randrange(12)))
    return "w.bin"


def outside(rng, folder):
    return rng.choice(
        (
            "../secret.bin",
            "./../secret.bin",
            "a/../../secret.bin",
            str(folder.parent / "secret.bin"),
            "/etc/passwd",
        )
    )


def linked(rng, folder):
    to = rng.choice(("../secret.bin", "/dev/zero", "w.bin", "/proc/self/mem", "/dev/random"))
    (folder / "w.bin").symlink_to(to)
    return "w.bin"


def hard_linked(rng, folder):
    os.link(folder.parent / "secret.bin", folder / "w.bin")
    return "w.bin"


def pipe(rng, folder):
    os.mkfifo(folder / "w.bin")
    return "w.bin"


def a_folder(rng, folder):
    (folder / "w.bin").mkdir()
    return rng.choice(("w.bin", "w.bin/", ".", "", "w.bin/../w.bin"))


def sparse(rng, folder):
    with (folder / "w.bin").open("wb") as file:
        file.truncate(rng.choice((1 << 30, 1 << 36)))
    return "w.bin"


def strange(rng, folder):
    return rng.choice(
        ("w\0.bin", "model.onnx", "out.onnx", "out.onnx.data", "~", "a" * 5000, "\n", "w.bin\u202e")
    )


KINDS = (whole, missing, cut, outside, linked, hard_linked, pipe, a_folder, sparse, strange)
