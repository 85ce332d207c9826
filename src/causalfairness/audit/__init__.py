"""What is a whole study as a file? Schema, run, record, and how to check one.

`Audit` says what is asked, `Audit.run` answers it, the record holds everything, `verify` finds it
again from the data, and `diff` says what changed between two records.
"""

from causalfairness.audit.comparing import Comparison, Difference, diff, verify
from causalfairness.audit.proposing import propose
from causalfairness.audit.record import read_record
from causalfairness.audit.result import AuditResult
from causalfairness.audit.schema import Audit

__all__ = [
    "Audit",
    "AuditResult",
    "Comparison",
    "Difference",
    "diff",
    "propose",
    "read_record",
    "verify",
]
