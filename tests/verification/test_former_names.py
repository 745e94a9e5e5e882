"""Names of modules that scripts of other people use, after a move."""

from straightline.verification import certificate_check
from straightline.verification.checker import check


def test_the_check_of_certificates_is_found_in_its_former_place():
    for name in ("check", "check_certificate", "derivation_of", "replayed"):
        assert getattr(check, name) is getattr(certificate_check, name)
