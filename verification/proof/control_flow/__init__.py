"""Symbolic execution of Loop, Scan, If and the other operators that hold bodies or optionals."""

from . import branches as branches
from . import loops as loops
from . import optionals as optionals
from . import scans as scans
from . import sequence_map as sequence_map
