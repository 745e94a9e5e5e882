"""Progress of long work."""

from collections.abc import Callable

OnProgress = Callable[[str, str, int, int], None]
"""Called now and then during long work, with four arguments, by position:

- stage: "rewriting", "trying" (what would decide control flow that is left), "converting",
  "proving", "verifying" or "calibrating";
- what: what is worked on, such as a pass or a sample; text for people;
- done: how much of it is done;
- total: how much there is; 0 where that is not known.

It runs in the thread of the work. What it raises (KeyboardInterrupt, too) ends the work and reaches
the caller; nothing half-made is left.
"""


def silent(stage: str, what: str, count: int, total: int) -> None:
    """Report no progress."""
