"""`python -m whyroute` is the command line, and the script `whyroute` starts here too."""

import sys

__all__ = ["main"]


def main() -> int:
    """Run the command line, and return the exit status; Ctrl-C is quiet from the first import on."""
    try:
        from .cli import main as run  # noqa: PLC0415

        return run()
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
