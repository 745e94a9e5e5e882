import hypothesis
import pytest

pytest.register_assert_rewrite("clusters", "commands", "harness", "loops", "straightened")

# How long an example takes says more of the machine than of the code. The same examples are drawn
# each time; `make fuzz` draws others.
hypothesis.settings.register_profile("no-deadline", deadline=None, derandomize=True)
hypothesis.settings.load_profile("no-deadline")
