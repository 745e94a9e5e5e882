import pytest
from straightline.runtimes.workers import Workers
from straightline.verification.runs.options import VerifyOptions
from straightline.verification.runs.verify import run


@pytest.fixture(scope="module")
def workers():
    with Workers() as shared:
        yield shared


@pytest.fixture
def check(workers):
    def check(before, after, *, bound=None, base_dir=None, **options):
        known = {"bound": bound, "base_dir": base_dir}
        return run(before, after, VerifyOptions(**options), workers=workers, **known)

    return check
