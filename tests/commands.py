"""Typing commands, in tests."""

from typer.testing import CliRunner, Result

from kfriendly.cli.app import app

# Options of a fit that takes a second.
TINY = ("--hidden", "8", "--pretrain-epochs", "2", "--epochs", "2", "--starts", "2")


def run(*words: object, typed: str | None = None) -> Result:
    """Run a command as if typed in a shell, `typed` on its standard input."""
    return CliRunner().invoke(app, [str(word) for word in words], input=typed)
