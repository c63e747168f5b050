"""python -m clreduce.command is the command clreduce."""

import sys

from . import main

sys.exit(main())
