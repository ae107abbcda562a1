"""`python -m iparam` is the command `iparam`."""

import os
import sys

if __name__ == "__main__":
    if not sys.flags.safe_path and sys.path[0] == os.getcwd():
        del sys.path[0]  # which Python put there; what lies in the working folder is data

    from iparam.cli.main import main

    sys.exit(main())
