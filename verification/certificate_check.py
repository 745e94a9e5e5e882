"""Check of a certificate for two models: its steps are replayed by the checker, which judges.

What is read here is the file. The checker gets the models, values of inputs, a notion of equality,
and steps to try; the claim is about what it says of them.
"""

import base64
import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import onnx

from ..definitions import Unfit, expansion_of, is_foreign
from ..definitions.case import Signature
from ..definitions.of_onnx import function_of
from ..ir import (
    Array,
    BaseDir,
    ModelSource,
    Operator,
    Tensor,
    base_dir_of,
    read,
    read_bytes,
    to_proto,
)
from ..ir.io.fingerprint import digest_of
from .checker.execution import execute
from .checker.replay import Replay
from .checker.rules import NOTIONS
from .checker.terms import ABSENT, CertificateError, Head, Terms

FORMAT, VERSION = "straightline certificate", 3
CLAIMS = {
    "bits": "equal for every input",
    "values": "equal up to the signs of zeros for every input",
    "reals": "equal over the reals for every input",
}
"""Claims by notion of equality."""
AGAIN = "prove again with 'straightline verify --certificate'"
_MOST_BYTES, _MOST_STEPS, _LONG = 1 << 30, 1 << 20, 128
_REMARKS = {"straightline": str, "claim": str, "rules": list, "assumptions": list, "terms": dict}
"""Keys for the prover. The check demands that they name the assumptions of the derivation."""
_CHECKED = {"format", "version", "verdict", "equality", "before", "after", "bound", "derivation"}
_OPEN = frozenset(("Attention",))
"""Operators of ONNX that are their functions over the reals: no rule is about them."""
_MINIMA = "minima"
"""Key for minimum sizes that the prover assumes, where it assumes any. The check does without."""


class Acceptance(NamedTuple):
    """Result of a check."""

    assumptions: tuple[str, ...]
    steps: int
    terms: int
    rules: tuple[str, ...]
    equality: str = "bits"

    @property
    def claim(self) -> str:
        """Claim with the assumptions, as a sentence."""
        condition = f", if {'; '.join(self.assumptions)}" if self.assumptions else ""
        return CLAIMS[self.equality] + condition


def check_certificate(
    certificate: str | os.PathLike[str],
    before: ModelSource,
    after: ModelSource,
    base_dir: BaseDir = None,
) -> Acceptance:
    """Check that the certificate of a file proves two models equal.

    Args:
        before, after: the original and the rewrite.
        base_dir: the folder of the external data of models given in memory.

    Raises:
        CertificateError: it does not.
        LoadError: a file cannot be read.
    """
    content = bytes(read_bytes(Path(certificate), _MOST_BYTES))
    try:
        document = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise CertificateError(f"'{certificate}' is not a certificate: it is not JSON") from error
    return check(document, before, after, base_dir)


def check(
    document: Any, before: ModelSource, after: ModelSource, base_dir: BaseDir = None
) -> Acceptance:
    """Check a certificate. Arguments and errors as those of `check_certificate`."""
    derivation = _derivation(document)
    for side, model in (("before", before), ("after", after)):
        if document[side] != {"sha256": digest_of(model, base_dir)}:
            what = "original" if side == "before" else "rewrite"
            raise CertificateError(f"the certificate is for another {what}")
    bound = {str(name): _decoded(text) for name, text in document["bound"].items()}
    replay = replayed(before, after, bound, base_dir, document["equality"])
    derived = derivation_of(replay, make(replay, [row[:2] for row in derivation["steps"]]))
    _require_same(derivation, derived)
    for assumption in sorted(replay.assumptions):
        if assumption not in document["assumptions"]:
            raise CertificateError(f"the certificate does not name an assumption: {assumption}")
    if replay.assumptions and ", if " not in document["claim"]:
        raise CertificateError("the claim of the certificate names no condition")
    numbers = len(derived["steps"]), len(replay.terms.nodes)
    rules = tuple(derived["rules"])
    return Acceptance(tuple(derived["assumptions"]), *numbers, rules, document["equality"])


def replayed(
    before: ModelSource,
    after: ModelSource,
    bound: Mapping[str, Array],
    base_dir: BaseDir = None,
    equality: str = "bits",
) -> Replay:
    """Both models as terms, before the first step, for a notion of equality."""
    sources = read(before), read(after)
    folders = base_dir_of(sources[0], base_dir), base_dir_of(sources[1], base_dir)
    protos = to_proto(sources[0]), to_proto(sources[1])
    return Replay(execute(protos, bound, folders, Definitions(equality)), equality)


class Definitions:
    """Functions that define operators, which the checker takes as data and names as assumptions.

    Args:
        equality: the notion of equality: kernels may round in other places than most definitions.
    """

    def __init__(self, equality: str) -> None:
        self._equality = equality
        self._functions: dict[str, dict[bytes, onnx.FunctionProto]] = {}

    @property
    def texts(self) -> dict[str, list[str]]:
        """The functions that were asked for, by operator."""
        rows = sorted(self._functions.items())
        return {name: [*map(onnx.printer.to_text, each.values())] for name, each in rows}

    def __call__(
        self,
        terms: Terms,
        node: onnx.NodeProto,
        attributes: Sequence[onnx.AttributeProto],
        versions: Mapping[str, int],
        args: Sequence[int],
    ) -> onnx.FunctionProto | None:
        """Function of an operator on terms; ONNX has only where no rule is about it.

        Without versions a rule asks for the function of an operator of ONNX.
        """
        operator = Operator(node.op_type, {a.name: a for a in attributes}, node.domain)
        is_own, is_real = bool(versions) and is_foreign(operator), self._equality == "reals"
        if not is_own and versions and not (is_real and node.op_type in _OPEN):
            return None
        facts = [terms.fact(arg) for arg in args]
        kinds = [
            None if arg == ABSENT else fact.elem_type for arg, fact in zip(args, facts, strict=True)
        ]
        shapes = [
            None if fact.shape is None else [d if isinstance(d, int) else None for d in fact.shape]
            for fact in facts
        ]

        def constant(place: int) -> Array | None:
            tensor = terms.tensor(args[place])
            return None if tensor is None else tensor.numpy()

        signature = Signature(operator, kinds, shapes, [*map(bool, node.output)], constant)
        function = self._foreign(signature, versions) if is_own else function_of(signature, is_real)
        if function is not None:
            key = function.SerializeToString(deterministic=True)
            self._functions.setdefault(operator.qualname, {})[key] = function
        return function

    def _foreign(
        self, signature: Signature, versions: Mapping[str, int]
    ) -> onnx.FunctionProto | None:
        try:
            expansion = expansion_of(signature, versions)
        except Unfit:
            return None
        is_exact = expansion is not None and expansion.definition.exact
        return expansion.proto if expansion and (is_exact or self._equality == "reals") else None


Step = tuple[str, int, int]
"""A step with the term that its rule derives."""


def make(replay: Replay, steps: Sequence[tuple[str, int]]) -> list[Step]:
    """Make steps, and require that they show both models equal."""
    results = replay.judge(steps)
    return [(rule, term, result) for (rule, term), result in zip(steps, results, strict=True)]


def derivation_of(replay: Replay, steps: Sequence[Step]) -> dict[str, Any]:
    """Derivation for JSON: all that the replay of its steps shows."""
    terms, heads, rows = replay.terms, dict[str, int](), []
    for node in terms.nodes:
        head = heads.setdefault(text_of(node.head), len(heads))
        rows.append([head, [*node.args], node.output, node.fact.text()])
    before, after = replay.models.before.outputs, replay.models.after.outputs
    texts = terms.define.texts if isinstance(terms.define, Definitions) else {}
    return {
        "heads": [*heads],
        "terms": rows,
        "steps": [*map(list, steps)],
        "outputs": {name: [before[name], after[name]] for name in before},
        "rules": sorted({rule for rule, *_ in steps}),
        "assumptions": sorted(replay.assumptions),
        **({"definitions": texts} if texts else {}),
    }


def text_of(head: Head) -> str:
    """Text of a function symbol."""
    key = str(head.key or "")
    if len(key) > _LONG:
        key = f"sha256:{hashlib.sha256(key.encode()).hexdigest()}"
    parts = [f"{head.name}-{head.version}", key, f"of {head.outputs}"]
    for name, content in head.attributes:
        is_long, digest = len(content) > _LONG, hashlib.sha256(content).hexdigest()
        parts.append(f"{name}=sha256:{digest}" if is_long else f"{name}={head.attribute(name)!r}")
    return " ".join(parts).replace("-0 ", " ").replace("  ", " ").replace(" of 1", "")


def _derivation(document: Any) -> dict[str, Any]:
    """Derivation of a certificate whose other keys have the right form."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise CertificateError("the file is not a certificate of straightline")
    version = document.get("version")
    if type(version) is not int or version != VERSION:
        raise CertificateError(
            f"a certificate of version {version!r} holds no derivation by these rules; {AGAIN}"
        )
    odd = (document.keys() - {_MINIMA}) ^ (_CHECKED | _REMARKS.keys())
    odd |= {key for key, kind in _REMARKS.items() if not isinstance(document.get(key), kind)}
    if odd or not isinstance(document["bound"], dict):
        raise CertificateError(f"the certificate lacks or should not have '{min(odd | {'bound'})}'")
    derivation = document["derivation"]
    if isinstance(derivation, str):
        raise CertificateError(f"the certificate holds no derivation: {derivation}; {AGAIN}")
    if document["verdict"] != "proved" or document["equality"] not in NOTIONS:
        raise CertificateError("the certificate makes no claim about equal outputs")
    rows = derivation.get("steps") if isinstance(derivation, dict) else None
    if not isinstance(rows, list) or len(rows) > _MOST_STEPS:
        raise CertificateError("the derivation has no list of steps")
    for row in rows:
        if not isinstance(row, list) or [type(each) for each in row] != [str, int, int]:
            raise CertificateError(f"{json.dumps(row)[:80]} is not a step")
    return derivation


def _decoded(text: Any) -> Array:
    """Value of an input from its text."""
    try:
        return Tensor(onnx.TensorProto.FromString(base64.b64decode(text, validate=True))).numpy()
    except Exception as error:
        raise CertificateError("a value of an input is unreadable") from error


def _require_same(derivation: Mapping[str, Any], derived: Mapping[str, Any]) -> None:
    """Require that a derivation says what its replay shows. JSON tells 1 from 1.0 and true."""
    for key in sorted(derivation.keys() | derived.keys()):
        texts = [json.dumps(each.get(key), sort_keys=True) for each in (derivation, derived)]
        if texts[0] != texts[1] or key not in derived or key not in derivation:
            raise CertificateError(f"'{key}' of the derivation is not what its replay shows")
