"""Reports: a page with two models side by side and the rewrites between them.

>>> from straightline import ir, report, rewrite
>>> model = ir.parse('''<ir_version: 10, opset_import: ["": 21]>
...     main (float[3] x) => (float[3] y) { a = Identity (x) y = Exp (a) }''')
>>> found = report.gather(model, rewrite(model))
>>> [(row.name, row.before, row.after) for row in found.differences.changed_operators]
[('Identity', '1', '0')]
"""

from .data import Report, gather, of_outcome
from .differences import Change, Differences
from .page import page, place_of, write
from .svg import control_flow_svg, write_svg

__all__ = [
    "Change",
    "Differences",
    "Report",
    "control_flow_svg",
    "gather",
    "of_outcome",
    "page",
    "place_of",
    "write",
    "write_svg",
]
