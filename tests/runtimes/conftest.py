import pytest
from shared_workers import keep_workers_apart


@pytest.fixture(autouse=True)
def own_workers(monkeypatch):
    """Start the processes of each pool: they are what these tests are about."""
    keep_workers_apart(monkeypatch)
