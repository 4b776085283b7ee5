"""What is said after a rehearsal."""

from inferstack.triton.rehearsal import summary
from inferstack.triton.rehearsal.server import SERVER_RELEASE


def test_the_summary_names_the_releases_that_will_be_deployed_instead_of_the_rehearsed_one() -> None:
    said = summary([], [(26, 5), SERVER_RELEASE, (24, 5), (26, 5)])
    assert said.endswith("on this CPU (the spec's image has 24.05 or 26.05)")


def test_the_summary_says_nothing_of_the_release_that_was_rehearsed() -> None:
    assert summary([], [SERVER_RELEASE]).endswith("on this CPU")
