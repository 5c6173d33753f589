"""``python -m cuscope``: the command line."""

import sys

from cuscope._cli import main

if __name__ == "__main__":
    sys.exit(main())
