import pytest
from straightline.runtimes.workers import Workers
from straightline.verification.runs.verify import verify


@pytest.fixture(scope="module")
def workers():
    with Workers() as shared:
        yield shared


@pytest.fixture
def check(workers):
    return lambda before, after, **options: verify(before, after, workers=workers, **options)
