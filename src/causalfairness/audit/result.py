"""What did an audit find? Its record, what can be read from it, and where it is kept."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from causalfairness.audit.plain import written
from causalfairness.audit.record import VERDICTS
from causalfairness.writing import write_whole


@dataclass(frozen=True, eq=False, repr=False)
class AuditResult:
    """What did an audit find?

    `record` is plain data that holds everything: answers, assumptions, settings, versions. Reports
    are made of it, and `verify` checks it.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> result = cf.Audit(roles={
    ...     "protected": "group", "reference": "blue", "comparison": "green",
    ...     "confounders": ["c1", "c2"], "mediators": ["m1"], "outcome": "y"},
    ...     questions=[{"ask": "disparity"}]).run(world.draw(2_000, seed=0))
    >>> result.record["schema"], result.verdict
    ('causalfairness.audit/1', None)
    >>> print(result)
    Audit: 2,000 rows, 1 question asked, 1 answered. Nothing was judged: no question has a margin.
    Disparity of y: green against blue. Gap: mean y is ...
    """

    record: dict[str, Any]

    @property
    def verdicts(self) -> dict[str, str]:
        """What is said about each question that was judged?"""
        found = ((answer["title"], answer["verdict"]) for answer in self.record["answers"])
        return {title: verdict for title, verdict in found if verdict is not None}

    @property
    def verdict(self) -> str | None:
        """What is said about all of them? None where nothing was judged."""
        found: str | None = self.record["verdict"]
        return found

    @property
    def unanswered(self) -> dict[str, str]:
        """Which questions were not answered, and why?

        >>> refused = {"title": "invariance", "status": "not answered", "reason": "too few people"}
        >>> AuditResult({"answers": [refused]}).unanswered
        {'invariance': 'too few people'}
        """
        return {
            answer["title"]: answer["reason"]
            for answer in self.record["answers"]
            if answer["status"] != "answered"
        }

    @property
    def defects(self) -> dict[str, str]:
        """Which questions, or tests of assumptions, were stopped by a defect of the program?

        >>> stopped = {"title": "invariance", "reason": "KeyError: ...", "defect": True}
        >>> AuditResult({"answers": [stopped]}).defects
        {'invariance': 'KeyError: ...'}
        """
        tests = [each for entry in self.record.get("assumptions", ()) for each in entry["tests"]]
        asked = [(each["title"], each["reason"], each) for each in self.record["answers"]]
        asked += [
            (each["independence"], each["remark"], each) for each in tests if "remark" in each
        ]
        return {name: said for name, said, each in asked if each.get("defect")}

    def __getitem__(self, title: str) -> dict[str, Any]:
        for answer in self.record["answers"]:
            if answer["title"] == title:
                found: dict[str, Any] = answer
                return found
        titles = "; ".join(answer["title"] for answer in self.record["answers"])
        raise KeyError(f"no question is called {title!r}; there are {titles}")

    def to_json(self, path: str | os.PathLike[str]) -> Path:
        """Where is the record? One JSON file, with sorted keys.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     print(AuditResult({"answers": []}).to_json(f"{folder}/record.json").name)
        record.json
        """
        return write_whole(written(self.record), path)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    __repr__ = __str__

    def _lines(self) -> Iterator[str]:
        answers = self.record["answers"]
        asked, refused = len(answers), len(self.unanswered)
        title = self.record["title"] or "Audit"
        yield (
            f"{title}: {self.record['data']['rows']:,} rows, {asked} "
            f"{'question' if asked == 1 else 'questions'} asked, {asked - refused} answered. "
            f"{self._damaged()}{self._judged()}"
        )
        for answer in answers:
            if answer["status"] == "answered":
                judged = f"{_opening(answer['verdict'])}. " if answer["verdict"] else ""
                yield f"{_opening(answer['title'])}. {judged}{answer['sentences'][0]}"
        for name, reason in self.unanswered.items():
            yield f"{_opening(name)}. Not answered: {reason}"
        for entry in self.record["assumptions"]:
            if entry["status"] in ("contradicted", "in doubt"):
                yield f"The data speaks against this: {entry['assumption']}."

    def _damaged(self) -> str:
        asked = self.record.get("timings", {}).get("questions", ())
        names = [each["question"] for each in asked if each.get("damaged")]
        return f"Kept answers that were damaged and asked again: {'; '.join(names)}. " * bool(names)

    def _judged(self) -> str:
        found = [*self.verdicts.values()]
        if not found and self.verdict is not None:
            return "Nothing was judged: models have not settled, or questions were not answered."
        if not found:
            return "Nothing was judged: no question has a margin."
        listed = ", ".join(f"{found.count(each)} {each}" for each in VERDICTS if each in found)
        return f"Judged under the stated assumptions: {listed}."


def _opening(title: str) -> str:
    return title[:1].upper() + title[1:]
