"""What the rules say, word by word: a message is what a user has, so none changes unseen."""

from tools import update_messages


def test_the_committed_messages_are_those_that_the_wrong_specs_get() -> None:
    committed = update_messages.MESSAGES_FILE.read_text("utf-8").splitlines()
    (said,) = update_messages.generate().values()
    assert isinstance(said, str)
    assert said.splitlines() == committed, f"if the new words are meant, run: {update_messages.COMMAND}"
