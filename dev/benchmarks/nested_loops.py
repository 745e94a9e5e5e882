"""Unroll nested Loops whose inner trip count is the outer iteration number, ever larger.

    python dev/benchmarks/nested_loops.py

Time should grow in proportion to the copies made.
"""

import time

import onnx
import onnx.parser
import straightline as sl

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
nested (float[2] x) => (float[2] y) <int64 n = {%d}> {
   y = Loop (n, , x) <body = outer (int64 i, bool c, float[2] a) => (bool c, float[2] r) {
      r = Loop (i, , a) <body = inner (int64 j, bool d, float[2] b) => (bool d, float[2] s) {
         half = Constant <value_float = 0.5> ()
         t = Mul (b, half)
         s = Tanh (t)
      }>
   }>
}"""


def measure(outer: int) -> tuple[int, float, float]:
    """Copies of the inner body, and seconds to unroll all of it, without and with the proof."""
    model = onnx.parser.parse_model(MODEL % outer)
    times = []
    for options in ({"verify": False}, {}):
        started = time.perf_counter()
        result = sl.rewrite(model, max_nodes=10**7, **options)
        times.append(time.perf_counter() - started)
        assert not any(node.op_type == "Loop" for node in result.graph.node)
    return outer * (outer - 1) // 2, times[0], times[1]


def main() -> None:
    """Print a line for each size."""
    measure(5)
    print(f"{'body copies':>12} {'seconds':>9} {'us a copy':>10} {'proved, us a copy':>18}")
    for outer in (5, 15, 46, 142, 448):
        copies, seconds, proved = measure(outer)
        each = seconds / copies * 1e6, proved / copies * 1e6
        print(f"{copies:12,} {seconds:9.3f} {each[0]:10.1f} {each[1]:18.1f}")


if __name__ == "__main__":
    main()
