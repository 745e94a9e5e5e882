"""What carries each operator across each change of its version: one file for each operator, or for
a family whose members share one story, named after it.

A file tells its operator's story in its docstring, version by version, and below it what a step
takes that the schemas do not show by themselves. Nothing has to be written for types, attributes
and inputs that a version lacks: they are refused by its schema
(`version_converter/conformance.py`).

To add a step, add to the operator's file, or add a file here: it is found by itself.

- `@upgrade(13, "Softmax")` and `@downgrade(13, "Softmax")` (`version_converter/registry.py`)
  register a function for the step from 12 to 13, or back. It edits a draft of the node, gives back
  values that take the node's place, or refuses (`version_converter/node_draft.py`). Several of one
  step run in the order in which they stand. `where=writes("allowzero")` and `kinds="i"` say of
  which nodes it leaves all others alone (`version_converter/form.py`): those are not looked at,
  which is most of the speed. A refusal says what would lift it: `required_constant` tells what a
  value depends on, `refuse_unknown` asks for shapes.
- `@longer_form(11, "Clip")` registers what says a node by several of its own version where the step
  below has been refused.
- `moved(11, "Pad", moves=[...])` (`version_converter/attribute_to_input.py`): attributes became
  inputs. Both ways; they run after the functions of the step.
- `negative_axes("Concat", axis=Axis("axis"))` (`version_converter/negative_axes.py`): axes may be
  negative from opset 11 on.
- `by_way_of(12, "MaxPool", types=..., via=...)` (`version_converter/via_wider_type.py`): types
  that are computed in another type below an opset, where the step has been refused otherwise.
- `added_values(19, "Pad", attribute="mode", values=[b"wrap"])` and `harmless(...)`
  (`version_converter/registry.py`): values of attributes that came later, and attributes that a
  version can do without.

Then add the step to the story, with its link, and raise `REVIEWED` in
`version_converter/schemas.py` when all changes of an opset were read.
"""

from __future__ import annotations

import importlib
import pkgutil

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
