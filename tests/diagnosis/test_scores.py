"""Texts of public threads: causes that are named, and none that is made up."""

import pytest
from diagnosis.scoring import answer, cases, scored

FILES = ("known.yaml", "unseen.yaml")
LEAST_NAMED, MOST_WRONG = 0.6, 0.05


@pytest.mark.parametrize("name", FILES)
def test_causes_are_named_and_few_are_wrong(name):
    score = scored(name)
    assert score.failures >= 40
    assert score.named / score.failures >= LEAST_NAMED, score.unnamed
    assert len(score.wrong) / score.failures <= MOST_WRONG, score.wrong


@pytest.mark.parametrize("name", FILES)
def test_no_certainty_is_unearned(name):
    for case in cases(name):
        found = answer(case)
        assert not found.certain or found.code == case.cause, case.url


@pytest.mark.parametrize("name", FILES)
def test_nobody_healthy_is_blamed(name):
    assert sum(it.healthy for it in cases(name)) >= 20
    assert scored(name).blamed == []


def test_every_text_is_from_a_thread_of_its_own():
    urls = [case.url for name in FILES for case in cases(name)]
    assert all(url.startswith("https://github.com/") for url in urls)
    # One thread tells of two images that fail in two ways, another has a failure and a healthy line.
    assert len(urls) - len({*urls}) <= 3
