"""Version of the installed distribution."""

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("straightline")
    except PackageNotFoundError:  # run from a checkout that is not installed
        return "unknown"


__version__ = _installed()
