"""`python -m straightline`, and the command `straightline`: the command line as a process."""

from __future__ import annotations

from .cli import interrupts


def main() -> None:
    """Run the command line."""
    interrupts.take_over()  # before anything that takes its time to import
    from .cli.commands import app
    from .cli.terminal import prepare_streams

    prepare_streams()
    app(prog_name="straightline")


if __name__ == "__main__":
    main()
