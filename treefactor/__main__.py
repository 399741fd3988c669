"""`python -m treefactor` is the command line."""

import sys

from .cli.command_line import main

sys.exit(main())
