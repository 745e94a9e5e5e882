"""Whole models from one opset version to another, both ways."""

from .convert import convert, convert_version
from .errors import ConversionError, Failure

__all__ = ["ConversionError", "Failure", "convert", "convert_version"]
