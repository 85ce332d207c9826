"""Does a classifier use the group to read an image? The audit, and what it is made of."""

from causalfairness.imaging.auditing.front_door import audit, audit_scores
from causalfairness.imaging.auditing.generating import Generated, generated_scores
from causalfairness.imaging.auditing.result import Agreement, AuditTable, ImagingAudit

__all__ = [
    "Agreement",
    "AuditTable",
    "Generated",
    "ImagingAudit",
    "audit",
    "audit_scores",
    "generated_scores",
]
