"""`python -m tilewright`: the command."""

from __future__ import annotations

import sys


def main() -> int:
    """Runs the command with the process's arguments."""
    from . import _tilewright

    return _tilewright.main(["tilewright", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
