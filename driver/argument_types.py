"""Types of arguments of the public calls that more than one file names."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, TypeAlias

from ..passes import Pass, Pipeline

if TYPE_CHECKING:
    from ..targets import Target

TargetLike: TypeAlias = "str | os.PathLike[str] | Target | None"
"""A target as callers name it: by name, by the path of a file, or as an object."""

Passes: TypeAlias = str | Pass | Iterable[Pass] | Pipeline | None
"""Passes as callers name them: None for the default pipeline, text, a pass, several, a pipeline."""
