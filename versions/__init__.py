"""The public name of `straightline.version_converter`, which scripts may rely on."""

from ..version_converter import ConversionError, Failure, convert

__all__ = ["ConversionError", "Failure", "convert"]
