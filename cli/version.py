"""The answer to --version, which needs nothing else of the command line."""


def print_version() -> None:
    """Print the version."""
    from importlib.metadata import version

    print(version("straightline"))
