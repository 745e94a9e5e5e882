"""Certificates: proofs for a pair of models in a file, to be checked again."""

import base64
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import onnx
from google.protobuf.message import DecodeError

from ..display.package_version import __version__
from ..facts.notions import EQUAL, NOTIONS
from ..ir import Array, BaseDir, Error, ModelSource, Tensor, read_bytes
from ..ir.io.files import replacing
from ..ir.io.fingerprint import digest_of
from ..ir.io.write_target import place_beside
from ..records import field, record, replace
from .certificate_check import FORMAT, VERSION
from .checker.terms import CertificateError
from .derivation import derive
from .proof.result import Proof

_MOST_BYTES = 1 << 30


_DECLARED = ", as the rewrite declares it"
"""End of an assumption of the checker about sizes that the caller of a proof may have stated."""
NO_DERIVATION = "the certificate is of a version without derivations"
"""Reason why a certificate holds no derivation."""


@record(frozen=True)
class Certificate:
    """A proof with the fingerprints of its models.

    Attributes:
        before: the digest of the original.
        after: the digest of the rewrite.
        proof: the proof.
            Its derivation is what `check-certificate` replays.
        bound: values of inputs; the claim names them.

    Examples:
        >>> import straightline as sl
        >>> head = '<ir_version: 8, opset_import: ["" : 17]> '
        >>> model = sl.ir.parse(head + "g (float[2] x) => (float[2] y) { y = Exp (x) }")
        >>> sl.Certificate.of(model, model, sl.prove(model, model)).proof.status
        'proved'
    """

    before: str
    after: str
    proof: Proof
    bound: Mapping[str, Array] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        before: ModelSource,
        after: ModelSource,
        proof: Proof,
        bound: Mapping[str, Array] | None = None,
        base_dir: BaseDir = None,
    ) -> "Certificate":
        """The certificate of a proof for two models.

        Raises:
            CertificateError: nothing is proved.
            LoadError: a model, or external data of it, cannot be read.
        """
        if not proof.proved:
            raise CertificateError(f"there is no proof to keep: {proof.reason}")
        digests = [digest_of(model, base_dir) for model in (before, after)]
        if not isinstance(proof.derivation, Mapping):
            proof = with_derivation(proof, before, after, bound or {}, base_dir)
        return cls(digests[0], digests[1], proof, dict(bound or {}))

    @classmethod
    def read(cls, path: Path) -> "Certificate":
        """Read the certificate of a file.

        Raises:
            CertificateError: the file is not a certificate.
            LoadError: it cannot be read.
        """
        content = bytes(read_bytes(path, _MOST_BYTES))
        try:
            return _read(json.loads(content))
        except (ValueError, KeyError, TypeError, DecodeError, RecursionError) as error:
            raise CertificateError(f"'{path}' is not a certificate of straightline") from error

    def to_dict(self) -> dict[str, Any]:
        """The certificate for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "straightline": __version__,
            "verdict": self.proof.status,
            "claim": self.proof.claim,
            "equality": self.proof.equality,
            "before": {"sha256": self.before},
            "after": {"sha256": self.after},
            "bound": {name: _encoded(value) for name, value in self.bound.items()},
            **({"minima": dict(self.proof.minima)} if self.proof.minima else {}),
            "rules": list(self.proof.rules),
            "assumptions": list(self.proof.assumptions),
            "terms": dict(self.proof.outputs),
            "derivation": self.proof.derivation,
        }

    def write(
        self, path: str | os.PathLike[str], taken: Iterable[Path] = (), *, force: bool = False
    ) -> None:
        """Write the certificate, whole or not at all.

        Args:
            path: the file to write.
            taken: files that must stay as they are.
            force: overwrite also a file that is not a certificate.

        Raises:
            SaveError: the file cannot be written, or something would be lost.
        """
        with replacing(place_of(Path(path), taken, force=force)) as (temporary,):
            temporary.write_text(_text(self.to_dict(), 0) + "\n", encoding="utf-8")

    def require_models(
        self, before: ModelSource, after: ModelSource, base_dir: BaseDir = None
    ) -> None:
        """Check that the certificate is one for two models.

        Raises:
            CertificateError: it is for others.
        """
        for what, expected, model in (
            ("original", self.before, before),
            ("rewrite", self.after, after),
        ):
            digest = digest_of(model, base_dir)
            if digest != expected:
                raise CertificateError(
                    f"the certificate is for another {what}: its digest is {expected}, that of the"
                    f" model {digest}"
                )

    def require_proof(self, proof: Proof | None) -> None:
        """Check that a repeated proof shows the certificate's claim.

        Raises:
            CertificateError: it does not.
        """
        if proof is None or not proof.proved:
            reason = "none was tried" if proof is None else proof.reason
            raise CertificateError(f"the proof cannot be made again: {reason}")
        if NOTIONS.index(proof.equality or "bits") > NOTIONS.index(self.proof.equality or "bits"):
            raise CertificateError(f"the proof shows less: {EQUAL[proof.equality or 'bits']}")
        more = sorted({*proof.assumptions} - {*self.proof.assumptions})
        if more:
            raise CertificateError(
                f"the proof assumes more than the certificate: {'; '.join(more)}"
            )


def with_derivation(
    proof: Proof,
    before: ModelSource,
    after: ModelSource,
    bound: Mapping[str, Any],
    base_dir: BaseDir = None,
    most: int | None = None,
) -> Proof:
    """Proof with its derivation, or the reason why there is none; see `derive`."""
    if not proof.proved:
        return proof
    derivation = derive(before, after, bound, base_dir, proof.equality or "bits", most)
    # A derivation may fold other constants than the proof, so that it may assume more.
    own = [] if isinstance(derivation, str) else derivation["assumptions"]
    own = [text for text in own if text.removesuffix(_DECLARED) not in proof.assumptions]
    assumptions = tuple(sorted({*proof.assumptions, *own}))
    return replace(proof, derivation=derivation, assumptions=assumptions)


def place_of(path: Path, taken: Iterable[Path], *, force: bool = False) -> Path:
    """The file to which a certificate may be written; nothing is touched.

    Raises:
        SaveError: the path cannot be a file, is one of `taken`, or is a file that is no
            certificate.
    """

    def is_own(file: Path) -> bool:
        try:
            return bool(Certificate.read(file))
        except Error:
            return False

    return place_beside(path, taken, "certificate", is_own, force)


def _read(document: dict[str, Any]) -> Certificate:
    if document["format"] != FORMAT or document["version"] not in range(1, VERSION + 1):
        raise ValueError("another format")
    if document["verdict"] != "proved":
        raise ValueError("another verdict")
    if not all(isinstance(document[name], dict) for name in ("terms", "bound")):
        raise TypeError("no values by name")
    derivation = document["derivation"] if document["version"] == VERSION else NO_DERIVATION
    if not isinstance(derivation, dict | str):
        raise TypeError("no derivation")
    proof = Proof(
        "proved",
        str(document["claim"]),
        tuple(map(str, document["rules"])),
        {str(name): int(count) for name, count in document["terms"].items()},
        tuple(map(str, document["assumptions"])),
        equality=NOTIONS[NOTIONS.index(document.get("equality", "bits"))],
        minima={str(name): int(least) for name, least in document.get("minima", {}).items()},
        derivation=derivation,
    )
    digests = [str(document[side]["sha256"]) for side in ("before", "after")]
    bound = {str(name): _decoded(text) for name, text in document["bound"].items()}
    return Certificate(digests[0], digests[1], proof, bound)


def _text(value: Any, depth: int) -> str:
    """JSON of a value: a line for each key, each term and each step."""
    if depth > 2 or not value or not isinstance(value, dict | list):
        return json.dumps(value)
    if isinstance(value, dict):
        rows = [f"{json.dumps(key)}: {_text(each, depth + 1)}" for key, each in value.items()]
    else:
        rows = [json.dumps(each) for each in value]
    margin, marks = "  " * depth, "{}" if isinstance(value, dict) else "[]"
    inner = ",\n".join([f"{margin}  {row}" for row in rows])
    return f"{marks[0]}\n{inner}\n{margin}{marks[1]}"


def _encoded(value: Array) -> str:
    message = Tensor(array=value).message()
    return base64.b64encode(message.SerializeToString(deterministic=True)).decode("ascii")


def _decoded(text: str) -> Array:
    message = onnx.TensorProto.FromString(base64.b64decode(text, validate=True))
    return Tensor(message).numpy()
