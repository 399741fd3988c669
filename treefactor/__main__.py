"""Run the command line: `python -m treefactor`."""

import sys

from .cli.command_line import main

sys.exit(main())
