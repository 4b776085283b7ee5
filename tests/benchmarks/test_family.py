"""The specs that everything is measured with."""

from benchmarks.family import KINDS, family
from benchmarks.specs import spec_text, write_specs
from inferstack.check.files import check_files, spec_files


def test_a_larger_family_begins_with_the_smaller_one():
    assert family(40)[:9] == family(9)


def test_no_two_specs_are_equal():
    texts = [spec_text(endpoint) for endpoint in family(40)]
    assert len(set(texts)) == 40


def test_a_spec_has_about_sixty_lines():
    lengths = [len(spec_text(endpoint).splitlines()) for endpoint in family(len(KINDS))]
    assert all(50 <= length <= 70 for length in lengths)


def test_nothing_is_wrong_with_the_specs(tmp_path):
    folder = write_specs(tmp_path / "model_specs", 24)
    assert [str(problem) for problem in check_files(spec_files(folder))] == []
