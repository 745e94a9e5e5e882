"""Errors that stop the work on many models before any of it is done."""

from ..ir import Error


class BatchError(Error):
    """The work cannot begin: nothing was touched."""
