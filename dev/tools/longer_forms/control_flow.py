"""Operators with bodies."""

from .case import Case

CONTROL_FLOW = [
    Case("SequenceMap", 17, "float[2,3] x, float[2,3] u",
     "s = SequenceConstruct (x, u) t = SequenceMap <body = b (float[2,3] e) => "
     "(float[2,3] r) {r = Neg (e)}> (s) y = ConcatFromSequence <axis = 0> (t)",
     gives="float[4,3] y"),
    Case("Scan, batches and lengths", 8, "float[2,3,2] x, int64[2] k",
     "s = Constant <value = float[2,2] {1, 2, 3, 4}> () l, y = Scan <num_scan_inputs = 1, "
     "body = b (float[2] before, float[2] e) => (float[2] after, float[2] r) {after = Add "
     "(before, e) r = Neg (after)}> (k, s, x)", until=8, gives="float[2,3,2] y"),
    Case("Scan, a batch of states", 8, "float[1,3,2] x",
     "s = Constant <value = float[1,2] {1, 2}> () l, r = Scan <num_scan_inputs = 1, body "
     "= b (float[2] before, float[2] e) => (float[2] after, float[2] r) {after = Add "
     '(before, e) r = Neg (after)}> ("", s, x) y = Add (r, x)', until=8, gives="float[1,3,2] y"),
    Case("Scan", 9, "float[3,2] x",
     "s = Constant <value = float[2] {1, 2}> () l, y = Scan <num_scan_inputs = 1, body = "
     "b (float[2] before, float[2] e) => (float[2] after, float[2] r) {after = Add "
     "(before, e) r = Neg (after)}> (s, x)", gives="float[3,2] y")]  # fmt: skip
