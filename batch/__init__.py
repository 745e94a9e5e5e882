"""Many models: the same work on each, in several processes or on a cluster.

One failure does not stop the rest, what is done and unchanged can be skipped, and whatever ends the
work leaves whole files only. joblib carries the work; it is imported when the work begins.
"""

from .errors import BatchError
from .result import Record
from .scheduler import run

__all__ = ["BatchError", "Record", "run"]
