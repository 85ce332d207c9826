"""How is an audit of radiographs shown? From its record, as a page of blocks."""

from causalfairness.report.imaging.page import imaging_page, is_imaging_record

__all__ = ["imaging_page", "is_imaging_record"]
