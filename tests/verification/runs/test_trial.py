import numpy as np
import onnx
import pytest
import straightline as sl
from straightline.runtimes.source import Source
from straightline.runtimes.workers import RuntimeFailure
from straightline.verification.runs.comparison import Tolerance
from straightline.verification.runs.input_generator import Sample
from straightline.verification.runs.trial import Pair, Trial, _jumps, disagreements

TEXT = (
    '<ir_version: 10, opset_import: ["": 21]> g (float[2] x) => (float[2] y, float[2] z) {{ {} }}'
)
RANDOM = "y = RandomNormalLike (x) z = Neg (x)"
PLAIN = "y = Exp (x) z = Neg (x)"


def pair(body=PLAIN):
    return Pair(*(Source(onnx.parser.parse_model(TEXT.format(body))) for _ in range(2)))


class Worker:
    """A runtime whose models are Python functions from x to outputs; an exception is a failure."""

    def __init__(self, models, before, after, runtime="fake"):
        self.runtime = runtime
        self.timeout = 60.0
        self.calls = {models.before.key: before, models.after.key: after}
        self.asked = []
        self.forgotten = []

    def run(self, source, feeds, *, fresh=False):
        self.asked.append((source.key, feeds["x"].tolist(), fresh, self.timeout))
        # A copy of the original that is nudged is what it was.
        found = self.calls.get(source.key, next(iter(self.calls.values())))(feeds["x"])
        if isinstance(found, Exception):
            raise found
        return [np.array(value, np.float32) for value in found]

    def forget(self, source):
        self.forgotten.append(source.key)


def sample(*candidates, label="one", **options):
    return Sample(label, iter([{"x": np.array(c, np.float32)} for c in candidates]), **options)


def failed(reason="failed"):
    return RuntimeFailure("onnxruntime", reason, "it cannot")


def right(x):
    return [2 * x, -x]


def wrong(x):
    return [2 * x + 1, -x]


def tried(before, after, *samples, body=PLAIN, **options):
    models = pair(body)
    worker = Worker(models, before, after)
    trial = Trial(worker, models, Tolerance(), **options)
    trial.run(iter(samples or [sample([1, 2])]))
    return trial, worker


def test_equal_outputs():
    trial, _ = tried(right, right, sample([1, 2]), sample([3, 4], label="two"))
    verdict = trial.verdict()
    assert (verdict.status, verdict.reason) == ("equal", "all outputs agree on 2 samples")
    assert (
        verdict.samples == ("one", "two") and [o.status for o in verdict.outputs] == ["equal"] * 2
    )


def test_a_difference_names_its_output_and_first_sample():
    trial, _ = tried(
        right,
        lambda x: right(x) if x[0] < 2 else wrong(x),
        *(sample([k, 2], label=str(k)) for k in (1, 2, 3)),
    )
    verdict = trial.verdict()
    assert verdict.status == "different"
    assert verdict.reason == "the rewrite differs in 'y' on 2 of 3 samples"
    assert [(o.status, o.sample) for o in verdict.outputs] == [("different", "2"), ("equal", "")]


def test_inputs_that_the_original_refuses_are_passed_over():
    def picky(x):
        return failed() if x[0] < 0 else right(x)

    trial, worker = tried(picky, right, sample([-1, 0], [-2, 0], [5, 0]), keep=True)
    (accepted,) = trial.accepted
    assert accepted.feeds["x"].tolist() == [5, 0] and accepted.outputs[0].tolist() == [10, 0]
    assert trial.verdict().notes == ("the original failed on 2 drawn inputs; others were drawn",)
    assert [x for _, x, _, _ in worker.asked] == [[-1, 0], [-2, 0], [5, 0], [5, 0]]


def test_nothing_is_verified_if_the_original_refuses_all():
    trial, _ = tried(lambda _: failed(), right, sample([1, 2]))
    verdict = trial.verdict()
    assert (verdict.status, trial.beyond_runtime) == ("not verified", True)
    assert verdict.reason.startswith("the original does not run on one: ")
    assert verdict.outputs == () and not trial.timed_out


def test_one_sample_that_all_else_needs():
    samples = [sample([1, 2]), sample([-1, 2], label="given", essential=True), sample([3, 4])]
    trial, worker = tried(lambda x: failed() if x[0] < 0 else right(x), right, *samples)
    assert trial.status == "not verified" and "on given" in trial.reason
    assert len(worker.asked) == 3, "no further sample"


def test_a_runtime_that_takes_no_such_model_is_not_asked_again():
    trial, worker = tried(
        lambda _: failed("unsupported"), right, sample([1, 2], [3, 4]), sample([5, 6])
    )
    assert trial.beyond_runtime and len(worker.asked) == 1


def test_a_timeout_ends_the_samples():
    slow = lambda x: failed("timed out") if x[0] > 1 else right(x)  # noqa: E731
    trial, worker = tried(slow, right, *(sample([k, 0], label=str(k)) for k in (1, 2, 3)))
    assert trial.timed_out and len(worker.asked) == 3
    assert trial.verdict().status == "equal" and trial.verdict().samples == ("1",)
    trial, _ = tried(slow, right, sample([2, 0]))
    assert (trial.status, trial.beyond_runtime) == ("not verified", False)


@pytest.mark.parametrize("reason", ["failed", "crashed", "timed out"])
def test_a_rewrite_that_does_not_run_is_different(reason):
    trial, _ = tried(right, lambda _: failed(reason))
    assert trial.status == "different" and trial.reason.startswith(
        "the rewrite does not run on one"
    )


def test_want_of_memory_is_nobodys_difference():
    trial, _ = tried(right, lambda _: failed("out of memory"))
    assert (trial.status, trial.beyond_runtime) == ("not verified", False)
    assert "of the rewrite, onnxruntime ran out of memory" in trial.reason
    trial, worker = tried(lambda _: failed("out of memory"), right)
    assert (trial.status, trial.beyond_runtime) == ("not verified", False)
    assert len(worker.asked) == 1


def test_a_valid_rewrite_that_the_runtime_refuses_is_none_of_its_faults():
    trial, _ = tried(right, lambda _: failed("unsupported"))
    assert (trial.status, trial.beyond_runtime) == ("not verified", True)


def test_an_invalid_rewrite_that_the_runtime_refuses_is():
    models = pair()
    models.after.proto.graph.node[0].input[0] = "nowhere"
    trial = Trial(Worker(models, right, lambda _: failed("unsupported")), models, Tolerance())
    trial.run(iter([sample([1, 2])]))
    assert trial.status == "different" and "is not a valid model" in trial.reason


def test_a_rewrite_that_the_runtime_calls_invalid_is_a_fault():
    refused = RuntimeFailure(
        "onnxruntime", "unsupported", "[ONNXRuntimeError] : 10 : INVALID_GRAPH"
    )
    trial, _ = tried(right, lambda _: refused)
    verdict = trial.verdict()
    assert verdict.status == "different" and "INVALID_GRAPH" in verdict.fault


def test_unrepeatable_outputs_are_excused_with_a_note():
    draws = iter(range(100))

    def drawing(x):
        return [x + next(draws), -x]

    trial, worker = tried(drawing, drawing, sample([1, 2]), sample([3, 4]), body=RANDOM)
    verdict = trial.verdict()
    assert verdict.status == "equal" and trial.unstable == {"y"}
    assert (
        verdict.reason
        == "'z' agree on 2 samples; by type and shape only, as not deterministic: 'y'"
    )
    assert all(fresh for _, _, fresh, _ in worker.asked), "so that seeds count"


def test_repeatable_outputs_are_compared():
    draws = iter(range(100))
    trial, _ = tried(lambda x: [x + next(draws), -x], lambda x: [x - 9, x], body=RANDOM)
    verdict = trial.verdict()
    assert verdict.status == "different" and "'z'" in verdict.reason
    assert [o.status for o in verdict.outputs] == ["not deterministic", "different"]


def test_another_kind_of_difference_is_no_excuse():
    draws = iter(range(100))
    trial, _ = tried(lambda x: [x + next(draws), -x], lambda x: [x[:1], -x], body=RANDOM)
    assert trial.verdict().status == "different", "another shape"


def test_a_strained_sample_comes_after_a_plain_one_and_has_less_time():
    strained = sample([1e6, 2], label="far", adversarial=True)
    trial, worker = tried(right, right, strained)
    assert worker.asked == [] and trial.status == "not verified"
    strained = sample([1e6, 2], label="far", adversarial=True)
    trial, worker = tried(right, right, sample([1, 2]), strained)
    times = [timeout for *_, timeout in worker.asked]
    assert times[0] == 60 and 2 <= times[2] < 60 and worker.timeout == 60
    assert trial.verdict().samples == ("one", "far")


def test_failures_under_strain_are_ignored():
    trial, worker = tried(
        lambda x: failed("timed out") if x[0] > 10 else right(x),
        right,
        *(sample([k, 2], label=str(k), adversarial=k > 1) for k in (1, 100, 200)),
    )
    assert trial.verdict().status == "equal" and trial.verdict().samples == ("1",)
    assert len(worker.asked) == 3, "no other strained sample"


def steep(x):
    return [x * 1e4 % 7, -x]


def test_under_strain_a_form_may_be_off_by_what_rounding_makes():
    def other_form(x):
        return [x * (1 + 1e-7) * 1e4 % 7, -x]

    trial, _ = tried(steep, other_form, sample([0, 0]), sample([3e5, 7e5], adversarial=True))
    assert trial.verdict().status == "equal"
    trial, _ = tried(steep, other_form, sample([0, 0]), sample([3e5, 7e5]))
    assert trial.verdict().status == "different", "a plain sample is no excuse"
    trial, _ = tried(right, wrong, sample([3, 4]), sample([1e2, 2e2], adversarial=True))
    assert trial.verdict().status == "different"


def test_one_large_value_among_zeros_is_no_jump():
    large = np.array([0, 0, 1e19], np.float32)
    assert not _jumps(large, [large * np.float32(1 + 2**-23)]).any()
    small = np.array([0.1, 0.2, 0.3], np.float32)
    moved = small + np.array([0, 0, 1], np.float32)
    assert _jumps(small, [moved]).tolist() == [False, False, True]


def test_under_strain_another_runtime_must_agree():
    def special(x):
        return right(x) if x[0] < 10 else wrong(x)

    samples = lambda: [sample([1, 2]), sample([100, 2], label="far", adversarial=True)]  # noqa: E731
    for judge, status in ((right, "equal"), (special, "different")):
        models = pair()
        other = Worker(models, right, judge, "other")
        trial = Trial(Worker(models, right, special), models, Tolerance(), other=lambda o=other: o)
        trial.run(iter(samples()))
        assert trial.verdict().status == status
        assert other.forgotten[:2] == [models.before.key, models.after.key]
        noted = any("fake alone tells the two apart" in note for note in trial.verdict().notes)
        assert noted == (status == "equal")


def test_another_runtime_must_agree_element_by_element():
    """A NaN by the specification excuses a number of one kernel, and no other element."""

    def shown(numbers):
        return lambda x: [np.array(numbers, np.float32) if x[0] > 10 else 2 * x, -x]

    nan = np.nan
    for after, status in (([nan, 1], "equal"), ([nan, 2], "different")):
        models = pair()
        other = Worker(models, shown([nan, nan]), shown([nan, 0]), "other")
        worker = Worker(models, shown([0.5, 1]), shown(after))
        trial = Trial(worker, models, Tolerance(), other=lambda o=other: o)
        samples = [sample([1, 2]), sample([100, 2], label="far", adversarial=True)]
        trial.run(iter(samples))
        assert trial.verdict().status == status


def test_two_runtimes_that_disagree_about_the_original():
    models = pair()
    trials = []
    for name, form in (("one", right), ("other", lambda x: [2 * x, -x + 1])):
        trial = Trial(Worker(models, form, form, name), models, Tolerance(), keep=True)
        trial.run(iter([sample([1, 2]), sample([9, 9], label="far", adversarial=True)]))
        trials.append(trial)
    (found,) = disagreements(*trials, Tolerance())
    assert (found.name, found.status, found.sample) == ("z", "different", "one")
    assert disagreements(trials[0], trials[0], Tolerance()) == ()


def test_only_what_the_rewrite_takes_is_given_to_it():
    models = pair()
    models.after.proto.graph.input[0].name = "other"
    assert models.feeds_after({"x": 1, "other": 2}) == {"other": 2}


def test_tolerances_of_0_excuse_no_rounding():
    text = "g (float[9] x) => (float[9] y) <float c = {%s}> { y = %s (x, c) }"
    models = [
        onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["" : 17]> {text % pair}')
        for pair in (("3", "Div"), ("0.33333333", "Mul"))
    ]
    assert sl.verify(*models, prove=False, samples=9)
    verdict = sl.verify(*models, prove=False, samples=9, rtol=0, atol=0)
    assert verdict.status == "different" and verdict.outputs[0].difference.max_ulps == 1


def test_an_input_that_another_runtime_refuses_is_passed_over():
    """There the rewrite may fail or differ; of the next one it may not."""
    refuse = lambda x: failed() if x[0] == 1 else right(x)  # noqa: E731
    for odd in (lambda x: failed(), wrong):
        for judge, status in ((right, "equal"), (odd, "different")):
            for strained in (False, True):
                models = pair()
                after = lambda x, judge=judge, odd=odd: odd(x) if x[0] == 1 else judge(x)  # noqa: E731
                other = Worker(models, refuse, wrong, "other")
                trial = Trial(
                    Worker(models, right, after), models, Tolerance(), other=lambda o=other: o
                )
                plain = [sample([3, 4])] if strained else []
                trial.run(iter([*plain, sample([1, 2], [5, 6], adversarial=strained)]))
                assert trial.verdict().status == (
                    status if not strained or judge is right else "different"
                )


def test_a_difference_on_inputs_that_one_runtime_alone_takes_is_one_but_no_failure():
    for form, status in ((wrong, "different"), (lambda x: failed(), "not verified")):
        models = pair()
        other = Worker(models, lambda x: failed(), form, "other")
        trial = Trial(Worker(models, right, form), models, Tolerance(), other=lambda o=other: o)
        trial.run(iter([sample([1, 2], [3, 4])]))
        assert trial.verdict().status == status


def test_inputs_of_the_caller_are_never_passed_over():
    models = pair()
    other = Worker(models, lambda x: failed(), right, "other")
    trial = Trial(Worker(models, right, wrong), models, Tolerance(), other=lambda: other)
    trial.run(iter([sample([1, 2], essential=True)]))
    assert trial.verdict().status == "different"


def test_numbers_are_not_compared_when_reruns_are_used_up():
    """Types and shapes still are."""
    models = pair()
    near = lambda x: [2 * x * (1 + 1e-4), -x]  # noqa: E731
    for last, status in ((near, "equal"), (lambda x: [np.ones(3), -x], "different")):
        form = lambda x, last=last: right(x) if x[0] == 1 else last(x)  # noqa: E731
        trial = Trial(Worker(models, right, form), models, Tolerance())
        trial._reruns = 1000
        options = {"adversarial": True, "exact": True}
        trial.run(iter([sample([1, 2]), sample([5, 6], label="far", **options)]))
        assert trial.verdict().status == status


def text_of(body, opset=15, signature="float[40] x"):
    return onnx.parser.parse_model(
        f'<ir_version: 8, opset_import: ["": {opset}]> g ({signature}) => (float[n] y) {{ {body} }}'
    )


def test_draws_of_a_seed_are_the_operators_own():
    """Another operator draws other numbers; the same one must draw the same."""
    before = text_of("y = Bernoulli <seed = 3.0> (x)")
    less = "u = RandomUniformLike <seed = 3.0> (x) l = Less (u, x) y = Cast <to = 1> (l)"
    verdict = sl.verify(before, text_of(less), prove=False)
    assert verdict.status == "not verified" and "not deterministic: 'y'" in verdict.reason
    assert sl.verify(before, text_of("y = Bernoulli <seed = 4.0> (x)"), prove=False).differs
    shaped = text_of("y = Constant <value_floats = [1.0, 0.0]> ()")
    assert sl.verify(before, shaped, prove=False).differs


def test_an_order_that_is_left_open_may_be_the_sorted_one():
    body = "k = Constant <value_ints = [9]> () y, i = TopK <sorted = {}> ({}, k)"
    before = text_of(body.format(0, "x"))
    assert not sl.verify(before, text_of(body.format(1, "x")), prove=False).differs
    assert sl.verify(before, text_of(f"n = Neg (x) {body.format(1, 'n')}"), prove=False).differs


def test_weights_that_round_to_zero_are_not_compared_at_infinities():
    """Finite numbers are."""
    text = "r = Reshape (x, s) z = DFT <axis = 1> (r) y = Reshape (z, t)"
    head = '<ir_version: 8, opset_import: ["": 17]> g (float[4] x) => (float[8] y)'
    shapes = "int64[3] s = {1, 4, 1}, int64[1] t = {-1}"
    before = onnx.parser.parse_model(f"{head} <{shapes}> {{ {text} }}")
    matrix = np.fft.fft(np.eye(4))
    for factor, differs in ((1, False), (1.01, True)):
        rows = np.stack([matrix.real, matrix.imag], -1).reshape(4, 8) * factor
        flat = ", ".join(map(str, rows.round(3).reshape(-1)))
        after = f"{head} <float[4, 8] m = {{{flat}}}> {{ y = MatMul (x, m) }}"
        assert sl.verify(before, onnx.parser.parse_model(after), prove=False).differs == differs


def test_a_fault_of_the_original_is_none_of_the_rewrite():
    """onnxruntime has no kernel for the rewrite, and infers the type that the original lacks."""
    body = "v = Constant <value = double[2] {0.1, 0.1}> () y = Max (x, v)"
    head = '<ir_version: 8, opset_import: ["": {}]> g (double[2] x) => (y) {{ {} }}'
    before, after = (onnx.parser.parse_model(head.format(opset, body)) for opset in (12, 7))
    assert sl.verify(before, after, prove=False).status == "equal"
