"""What templates consist of, property by property: reviewers read templates, so none changes unseen."""

from tools import update_templates


def test_the_committed_properties_are_those_of_the_templates() -> None:
    committed = update_templates.TEMPLATES_FILE.read_text("utf-8").splitlines()
    (made,) = update_templates.generate().values()
    assert isinstance(made, str)
    assert made.splitlines() == committed, f"if the new properties are meant, run: {update_templates.COMMAND}"
