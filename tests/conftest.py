import hypothesis
import pytest

pytest.register_assert_rewrite("harness")

# How long an example takes says more of the machine than of the code.
hypothesis.settings.register_profile("no-deadline", deadline=None)
hypothesis.settings.load_profile("no-deadline")
