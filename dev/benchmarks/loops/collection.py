"""All cases, by the file that they stand in."""

import dataclasses
import importlib

from .case import Case

FAMILIES = (
    "gru",
    "gru_layers",
    "lstm",
    "elman",
    "recurrences",
    "writes",
    "running",
    "rows",
    "items",
    "frames",
    "neighbours",
    "nested",
    "decoders",
    "idioms",
    "few_iterations",
    "staying",
)


def cases(only: str = "") -> list[Case]:
    """Those whose name or family holds some text, in the order of the files."""
    found = []
    for family in FAMILIES:
        module = importlib.import_module(f".{family}", __package__)
        found += [dataclasses.replace(case, family=family) for case in module.CASES]
    return [case for case in found if only in case.name or only == case.family]
