"""Loop, Scan, If and what else holds bodies, on terms."""

from . import branches as branches
from . import loops as loops
from . import mapping as mapping
from . import optionals as optionals
from . import scans as scans
from .registry import CONSTRUCTS, Construct, construct

__all__ = ["CONSTRUCTS", "Construct", "construct"]
