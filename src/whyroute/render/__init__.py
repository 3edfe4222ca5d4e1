"""Decisions, explanations and errors for people to read. No logic: everything shown is read from the objects."""

from .lines import Line
from .prose import explanation_lines
from .text import decision_lines, error_lines

__all__ = ["Line", "decision_lines", "error_lines", "explanation_lines"]
