import pytest


@pytest.fixture
def shared_workers():
    """Each test starts its own processes."""
