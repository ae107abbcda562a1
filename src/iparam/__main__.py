"""`python -m iparam` is the command `iparam`."""

import sys

from iparam.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
