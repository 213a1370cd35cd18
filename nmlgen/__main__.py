"""`python -m nmlgen` is the command `nmlgen`."""

import sys

if not (sys.flags.isolated or getattr(sys.flags, "safe_path", False)):
    del sys.path[0]  # the working directory: a `glob.py` beside somebody's scripts is no part of this

from nmlgen.cli import main

sys.exit(main())
