"""The command line: a thin shell that reads, calls the library, prints and exits."""

from .main import main

__all__ = ["main"]
