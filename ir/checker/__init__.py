"""The checker of messages at load: conditions on which every pass relies.

Names are text; tensors and types have element types of ONNX; nodes of ONNX's own operators have the
inputs, outputs and attributes of their schemas; functions are not recursive. Operators without a
schema pass.

One linear walk over the message. Nodes of the same form are checked once.
"""

from .graphs import Frame as Frame
from .graphs import check_well_formed as check_well_formed
from .graphs import naming_odd_text as naming_odd_text
