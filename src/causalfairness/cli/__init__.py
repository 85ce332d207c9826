"""What can be asked from a terminal? Parse, call, print: all answers are those of the library.

Exit codes: 0 done, 2 the command was misspelled, 3 the data or the assumptions do not allow an
answer, 70 a defect of the program.
"""

from causalfairness.cli.app import app, main

__all__ = ["app", "main"]
