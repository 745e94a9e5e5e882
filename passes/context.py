"""Context of passes, under its first name."""

# ruff: noqa: PLC0414
from .base import Analyses as Analyses
from .base import Instrumentation as Instrumentation
from .base import Meter as Meter
from .base import PassContext as PassContext
from .base import Progress as Progress
from .base import Watcher as Watcher
