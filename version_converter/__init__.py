"""Conversion of whole models between opset versions, both ways.

`straightline.convert_version` is the function to call; `convert` works on a model of one's own.
"""

from . import adapters as adapters
from .convert import convert
from .errors import ConversionError, Failure

__all__ = ["ConversionError", "Failure", "convert"]
