"""Registry of the shipped targets, and loading of files."""

import functools
import os
from importlib import resources
from pathlib import Path
from typing import Any

from ..ir import instead
from ..ir.io.toml_text import read_text
from ..ir.kinds import PATH, takes
from ..ir.option_names import by
from .target import Target, TargetError
from .target_file import parse

_FOLDER = resources.files(__package__) / "shipped"
_SUFFIX = ".toml"


@functools.cache
def names() -> tuple[str, ...]:
    """The names of the shipped targets, sorted.

    Examples:
        >>> import straightline as sl
        >>> "tvm" in sl.targets.names()
        True
    """
    files = [file.name for file in _FOLDER.iterdir()]
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX)))


@functools.cache
def find(name: str) -> Target:
    """The shipped target of a name.

    Raises:
        TargetError: there is none.

    Examples:
        >>> import straightline as sl
        >>> sl.targets.find("tvm").name
        'tvm'
    """
    if name not in names():
        raise TargetError(
            f"there is no target '{name}'; {instead(name, names())}; one of your own is read with"
            f" {by('--target-file FILE.toml')}"
        )
    file = _FOLDER / f"{name}{_SUFFIX}"
    # The lists were written with the newest onnx; a test checks their names.
    return parse(file.read_text(encoding="utf-8"), name, file.name, any_names=True)


@takes(path=PATH)
def load(path: str | os.PathLike[str]) -> Target:
    """Load the target of a file, which is named after the file.

    Args:
        path: the path of a TOML file.

    Raises:
        TargetError: the file cannot be read, or is invalid.

    Examples:
        >>> from straightline import targets
        >>> targets.load("mine.toml")  # doctest: +ELLIPSIS
        Traceback (most recent call last):
        straightline.targets.target.TargetError: cannot read the target 'mine.toml': No such ...
    """
    file = Path(path)
    try:
        text = read_text(file)
    except ValueError as error:
        raise TargetError(f"cannot read the target '{file}': {error}") from error
    return parse(text, file.name.removesuffix(_SUFFIX), str(file))


def target_of(given: Any) -> Target:
    """The target of an argument: itself, a path, or a name of a shipped one.

    Text is a path where it ends with .toml.

    Raises:
        TargetError: there is none.
    """
    if isinstance(given, Target):
        return given
    if isinstance(given, os.PathLike) or (isinstance(given, str) and given.endswith(_SUFFIX)):
        return load(given)
    if isinstance(given, str):
        return find(given)
    raise TargetError(
        f"a target must be a name such as 'onnx2torch', a path or a Target, not {given!r}"
    )
