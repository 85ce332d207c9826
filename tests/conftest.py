"""What all tests share: fixtures that open pages in a browser, and the price of a run."""

import gc
import resource

import pytest

from browsing import browser, hostile_report, served, tame_report, visit

__all__ = ["browser", "hostile_report", "served", "tame_report", "visit"]


def pytest_collection_finish():
    """Leave what has been imported and collected out of the search for garbage: it stays anyway."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter, config):
    """Print the CPU minutes of a run, those of its workers and of all they started included."""
    if not hasattr(config, "workerinput"):
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        minutes = sum(each.ru_utime + each.ru_stime for each in used) / 60
        terminalreporter.write_line(f"{minutes:.1f} CPU minutes")
