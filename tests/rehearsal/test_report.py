"""What is said after a rehearsal."""

from inferstack.triton.rehearsal import ArchiveOutcome, report, summary
from inferstack.triton.rehearsal.outcome import SERVER_RELEASE, Failure


def test_the_summary_names_the_releases_that_will_be_deployed_instead_of_the_rehearsed_one() -> None:
    said = summary([], [(26, 5), SERVER_RELEASE, (24, 5), (26, 5)])
    assert said.endswith("on this CPU (the spec's image has 24.05 or 26.05)")


def test_the_summary_says_nothing_of_the_release_that_was_rehearsed() -> None:
    assert summary([], [SERVER_RELEASE]).endswith("on this CPU")


def test_a_failure_is_said_with_tritons_words_and_what_they_mean() -> None:
    failure = Failure("Triton ended with status 1", ("no such model", "bye"), "it is not there")
    assert report(ArchiveOutcome("a.tar.gz", 0.5, failure)).splitlines() == [
        "a.tar.gz: NOT SERVED, after 0.5 s",
        "  Triton ended with status 1",
        "    Triton: no such model",
        "    Triton: bye",
        "  which means: it is not there",
    ]
