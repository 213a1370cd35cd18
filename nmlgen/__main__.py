"""`python -m nmlgen` is the command `nmlgen`."""

import sys

from nmlgen.cli import main

sys.exit(main())
