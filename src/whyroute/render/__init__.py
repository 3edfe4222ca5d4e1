"""Decisions, explanations and errors as text. No logic: everything shown is read from the objects."""

from .text import Line, decision_lines, error_lines, explanation_lines, failure_lines

__all__ = ["Line", "decision_lines", "error_lines", "explanation_lines", "failure_lines"]
