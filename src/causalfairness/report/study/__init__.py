"""What does the record of a whole study show, section by section? Blocks for a page."""

from causalfairness.report.study.page import page_of as study_page

__all__ = ["study_page"]
