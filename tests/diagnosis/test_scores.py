"""Texts of public threads: causes that are named, and none that is made up.

Each file but the first was collected, and its causes written down, before the signatures were made to know it. Then
they were: what the texts carry was added, with a source. The scores of both times, the first of which is what a new
text can expect:

    file     failures  with a cause  named at first  wrong at first  named now  wrong now  healthy  blamed at first
    known          51            42               -               -         41          0       20                0
    unseen         42            35              29               1         31          0       20                0
    third          51            42              24               4         39          0       20                0
    fourth         19            15               9               3         12          0       10                0
    fifth          41            33               9               0         26          0       19                0
    six            49            41              27               2         38          0       21                0
    seven          42            32              18               5         22          2       20                0
    eight          34            28              21               2         23          0       17                1

Of the first eight wrong ones, four named the line above pydantic's reason, two any exception, and two said that they
were certain: AWS's own sentence, but not by the code of its cause, and a Python module that is missing, which its
unpickling needed. Of the other nine, seven named an exception of a client, or one that followed from what another line
says; the healthy one that was blamed has an import that TensorFlow tries in vain, and only that. The fifth set came after the signatures had been tightened to the sentences of their programs. It
is mostly of engines and tools that they do not know: 24 of its causes had a code, of which 9 were named. The code
before had named the same 9, and none wrongly; what tightening changed is in ``test_near_misses.py``. Where the label
was "other", since no signature said it, it has become the new signature's code.
"""

import pytest
from diagnosis.scoring import answer, cases, scored

FILES = {
    "known.yaml": (40, 20),
    "unseen.yaml": (40, 20),
    "third.yaml": (40, 20),
    "fourth.yaml": (15, 10),
    "fifth.yaml": (30, 15),
    "six.yaml": (40, 20),
    "seven.yaml": (40, 20),
    "eight.yaml": (30, 15),
}
"""With the least number of failures and of healthy texts."""
LEAST_NAMED, MOST_WRONG = 0.6, 0.05


@pytest.mark.parametrize("name", FILES)
def test_causes_are_named_and_few_are_wrong(name):
    score = scored(name)
    assert score.failures >= FILES[name][0]
    assert score.named / score.causes >= LEAST_NAMED, score.unnamed
    assert len(score.wrong) / score.failures <= MOST_WRONG, score.wrong


@pytest.mark.parametrize("name", FILES)
def test_no_certainty_is_unearned(name):
    for case in cases(name):
        found = answer(case)
        assert not found.certain or found.code in (case.cause, *case.also), case.url


@pytest.mark.parametrize("name", FILES)
def test_nobody_healthy_is_blamed(name):
    assert sum(it.healthy for it in cases(name)) >= FILES[name][1]
    assert scored(name).blamed == []


def test_every_text_is_from_a_thread_of_its_own():
    urls = [case.url for name in FILES for case in cases(name)]
    assert all(url.startswith("https://") for url in urls)
    # One thread tells of two images that fail in two ways, another has a failure and a healthy line.
    assert len(urls) - len({*urls}) <= 3
