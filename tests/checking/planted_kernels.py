"""All kernels with a planted mistake."""

from __future__ import annotations

import planted_bounds
import planted_documents
import planted_meetings
import planted_package
import planted_races

__all__ = ["CASES"]

TABLES = [planted_bounds, planted_races, planted_meetings, planted_package, planted_documents]
CASES = [case for table in TABLES for case in table.TABLE]
