"""What loading a model takes, fitted to the models of the benchmark on loops.

    python -m straightline.dev.benchmarks.load_cost [--only NAME] [--seconds S]

Each model is measured against the forms that `accelerate` chooses from and the one by hand. A load
is reckoned as a sum over what a model has (`passes/utils/cost_model.py`), in nodes; the numbers are
found step by step such that the logarithms of the ratios fit best, outliers counting up to 20 %.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Mapping, Sequence

from straightline.ir import load
from straightline.passes import Pipeline, accelerate
from straightline.passes.utils.cost_model import load_units
from straightline.passes.utils.costs import LOAD

from .loops.collection import cases
from .loops.measuring import load_times, ratio

Parts = Mapping[str, float]
Sample = tuple[Parts, Parts, float]
MOST_ERROR = math.log(1.2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="cases whose name holds this, or a family")
    parser.add_argument("--seconds", type=float, default=0.2, help="for each pair of models")
    options = parser.parse_args()
    samples = measure(options.only, options.seconds)
    for name, weights in (("as it is", LOAD), ("fitted", fit(samples))):
        errors = [error(sample, weights) for sample in samples]
        print(f"{name}: standard deviation {statistics.pstdev(errors):.3f} of {len(errors)}")
        print("  " + ", ".join(f"{what} {weight:.2f}" for what, weight in weights.items()))


def measure(only: str, seconds: float) -> list[Sample]:
    """What models and their other forms have, and how many times faster those load."""
    (pass_,) = accelerate().passes
    samples = []
    for case in cases(only):
        original = case.original(case.sizes)
        forms = [Pipeline(stages).run(original).model for stages in pass_.alternatives]
        message = original.SerializeToString(deterministic=True)
        known = {message}
        for form in (case.by_hand(case.sizes), *forms):
            other = form.SerializeToString(deterministic=True)
            if other not in known and len(other) < 100 * len(message):
                known.add(other)
                times = ratio(load_times(message, other, seconds))
                samples.append(
                    (load_units(load(original)), load_units(load(form)), math.log(times))
                )
    return samples


def error(sample: Sample, weights: Parts) -> float:
    """By how much the logarithm of a ratio is reckoned too large."""
    one, other = (sum(weights[w] * n for w, n in parts.items()) for parts in sample[:2])
    return math.log(one / other) - sample[2]


def fit(samples: Sequence[Sample]) -> dict[str, float]:
    """Weights that fit the ratios; a node weighs 1."""

    def loss(weights: Parts) -> float:
        return sum(min(abs(error(sample, weights)), MOST_ERROR) ** 2 for sample in samples)

    weights, step = dict(LOAD), 0.5
    best = loss(weights)
    while step > 0.02:
        better = False
        for what in LOAD:
            for change in (step, -step):
                tried = {**weights, what: max(weights[what] + change, 0.0)}
                if what != "node" and loss(tried) < best - 1e-6:
                    weights, best, better = tried, loss(tried), True
        step = step if better else step / 2
    return weights


if __name__ == "__main__":
    main()
