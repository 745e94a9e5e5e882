"""Adapters of operators for each change of their versions. One file holds one operator, or a family
with a common history, and is named after it.

A file has its operator's history in its docstring, version by version, and below it the adapters of
changes that schemas do not show. Types, attributes and inputs that a version lacks need no adapter:
its schema refuses them (`version_converter/conformance.py`), and lists them, so that versions which
only add types share a line of the history. The text of a version is at
https://github.com/onnx/onnx/blob/main/docs/Changelog.md#NAME-VERSION, as `#Softmax-13`, that of the
newest at https://onnx.ai/onnx/operators/onnx__NAME.html.

To add a step, edit the operator's file, or add a file here, which registers itself.

- `@upgrade(13, "Softmax")` and `@downgrade(13, "Softmax")` (`version_converter/registry.py`)
  register a function for the step from 12 to 13, or back. It edits a draft of the node, returns
  values that replace the node's outputs, or refuses (`version_converter/node_draft.py`). Several of
  one step run in the order of the file. `where=writes("allowzero")` and `kinds="i"` select the
  nodes that it may change (`version_converter/form.py`): the converter does not visit any other,
  which is most of the speed. A refusal names its remedy: `required_constant` explains on which
  inputs a value depends, `refuse_unknown` asks for shapes.
- `@longer_form(11, "Clip")` registers a longer form: several nodes of the same version, used where
  the step below is refused.
- `move_attributes(11, "Pad", moves=[...])` (`version_converter/attribute_to_input.py`): attributes
  that became inputs. They run both ways, after the functions of the step.
- `negative_axes("Concat", axis=Axis("axis"))` (`version_converter/negative_axes.py`): axes may be
  negative from opset 11 on.
- `compute_via(12, "MaxPool", row=Detour(...))` (`version_converter/via_wider_type.py`): types that
  are computed in another type below an opset, where the step is refused otherwise.
- `added_values(19, "Pad", attribute="mode", values=[b"wrap"])` and `harmless(...)`
  (`version_converter/registry.py`): values of attributes that came later, and attributes that a
  version does not need.

Then add the step to the history, and raise `REVIEWED` in `version_converter/schemas.py` when all
changes of an opset are reviewed.
"""

import importlib
import pkgutil

from .. import bfloat16 as bfloat16

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
