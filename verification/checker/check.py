"""Former place of `certificate_check`, which scripts name; it is not a part of the checker."""

from importlib import import_module

__getattr__ = import_module("straightline.verification.certificate_check").__getattribute__
