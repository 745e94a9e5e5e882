"""Mutants: bytes of models that are flipped, cut or doubled, and fields with other contents."""

import functools
import random
from collections.abc import Iterator
from pathlib import Path

import mutant_seeds
import onnx
from attack import Attack, some
from mutations import mutate, mutate_bytes, names_in


@functools.cache
def origins() -> dict[str, onnx.ModelProto]:
    return mutant_seeds.written()


def attacks(rng: random.Random, folder: Path) -> Iterator[Attack]:
    name, other = rng.choice(sorted(origins())), rng.choice(sorted(origins()))
    whole, path = origins()[name], folder / "model.onnx"
    (folder / "w.bin").write_bytes(mutant_seeds.DATA)
    if rng.random() < 0.4:
        path.write_bytes(mutate_bytes(whole.SerializeToString(), rng))
    else:
        changed = onnx.ModelProto()
        changed.CopyFrom(whole)
        for _ in range(rng.choice((1, 1, 5))):
            mutate(changed, rng, names_in(whole), origins()[other])
        path.write_bytes(changed.SerializeToString())
    yield from some(rng, f"mutant of {name}", path, 2)
