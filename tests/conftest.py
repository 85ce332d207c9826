"""Which fixtures do all tests have? Those that open pages in a browser."""

from browsing import browser, hostile_report, served, tame_report, visit

__all__ = ["browser", "hostile_report", "served", "tame_report", "visit"]
