"""An explanation as a page: one HTML file that needs nothing else."""

from .bundle import bundle_page
from .document import colours, explanation_page, page_sources

__all__ = ["bundle_page", "colours", "explanation_page", "page_sources"]
