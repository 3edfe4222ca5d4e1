"""An explanation as a page: one HTML file that needs nothing else."""

from .document import explanation_page, page_sources

__all__ = ["explanation_page", "page_sources"]
