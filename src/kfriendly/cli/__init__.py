"""The command line. Nothing heavy is imported before a command really runs."""

from kfriendly.cli.app import main

__all__ = ["main"]
