"""Pictures of what was learned."""

from kfriendly.report.spaces import Panel, draw_spaces

__all__ = ["Panel", "draw_spaces"]
