"""What is known about the people but their group, and what should the reader of an audit know?

Age, sex, scanner and findings are all optional. Whatever is unknown is not held when people are
compared: claims, assumptions and notes of an audit name what was.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from causalfairness.imaging.auditing.generating import Generated
from causalfairness.imaging.parents import FINDINGS, NAMES, UNKNOWN, Parents, codes_of
from causalfairness.invariance.result import Claim
from causalfairness.invariance.scores import Judged
from causalfairness.invariance.statistics import Statistics
from causalfairness.invariance.testing import RARE

REACH = {
    "projected": ", in the direction the generator points to",
    "randomization": ", in the direction the generator points to",
    "individual": ", if the generator is right",
    "paired": ", if the generator is right",
}
SEPARATE = (
    "images are of different people, drawn independently, and the generator was not trained on them"
)
NOTHING = (
    "images of the groups differ for no other reason than the group itself: neither age, sex, "
    "scanner nor findings are known here"
)
BARE = (
    "nothing is known about the people but their group: scores that follow age, sex, scanner or "
    "findings count as dependence wherever groups differ in these"
)


@dataclass(frozen=True)
class Known:
    """What is known about so many people? `missing` says for how many each parent is not.

    >>> known = Known(10, {"age": 0, "sex": 3, "scanner": 10, "edema": 10})
    >>> known.claim("projected").depends
    'depend on the group beyond age and sex as far as they are known'
    """

    people: int
    missing: Mapping[str, int]

    @classmethod
    def of(cls, parents: Parents) -> Known:
        """What is known about these people?"""
        codes = codes_of(parents)[:, 1:]
        counts = (codes == UNKNOWN).sum(0).tolist()
        return cls(len(codes), dict(zip(NAMES[1:], counts, strict=True)))

    @property
    def listed(self) -> str:
        """What is known, one after the other? An empty text where nothing is."""
        return _listed([name for name in self.missing if self._anyhow(name)])

    def claim(self, method: str) -> Claim:
        """What may be said where a test rejects, and where it does not?"""
        where = " as far as they are known" if self._partly() else ""
        beyond = "on the group" + (f" beyond {self.listed}{where}" if self.listed else "")
        silent = f"consistent with no dependence {beyond}"
        return Claim(f"{method} audit", f"depend {beyond}", silent, REACH[method])

    def assumptions(self) -> tuple[str, ...]:
        """What does an audit rest on?"""
        if not self.listed:
            return NOTHING, SEPARATE
        curves = ["curves of age", "age by everything else"] if self._anyhow("age") else []
        if self._anyhow("sex") and self._anyhow("scanner"):
            curves.append("sex by scanner")
        return (
            f"nothing but {self.listed} makes images of the groups differ for other reasons than "
            "the group itself; nothing else drives both the group and what is on the image",
            "every group can occur with any of them",
            f"how scores or how groups follow {self.listed} was learned well from these images: by "
            f"{_listed(['lines', *curves])}",
            SEPARATE,
        )

    def notes(self) -> Iterator[str]:
        """What should a reader know about what is not known?"""
        if not self.listed:
            yield BARE
            return
        never = [name for name in self.missing if not self._anyhow(name)]
        if never:
            yield (
                f"not known for anyone: {_listed(never)}; scores that follow what is not known "
                "count as dependence wherever groups differ in it"
            )
        partly = self._partly()
        if partly:
            told = ", ".join(f"{name} of {count:,}" for name, count in partly.items())
            yield (
                f"not known for some of {self.people:,} people: {told}; those of whom it is not "
                "known are compared as if alike in it"
            )

    def _anyhow(self, name: str) -> bool:
        """Whether it is known of anyone."""
        return self.missing[name] < self.people

    def _partly(self) -> dict[str, int]:
        """What is known of some, and for how many it is not."""
        return {name: count for name, count in self.missing.items() if 0 < count < self.people}


def _listed(names: list[str]) -> str:
    """In words; all findings together are called so."""
    if set(FINDINGS) <= set(names):
        names = [*(name for name in names if name not in FINDINGS), "findings"]
    *most, last = names or [""]
    return f"{', '.join(most)} and {last}" if most else last


COMPOSITION, REVERSIBILITY = 0.008, 0.015  # beyond these a generator is said to be rough
ARTIFACTS = (
    "each image is compared with its own counterfactuals: whatever the generator does wrong to "
    "images of other groups counts as dependence, and with any imperfect generator true "
    "invariance is rejected nearly always; use method='projected'"
)
LIKE_PLACEBO = (
    "the p-value allows for mistakes of the generator that the placebo, trained with permuted "
    "groups, makes as well, and for no others"
)
PUBLISHED = (
    "the paired test is kept for replication: it takes the mistakes of the generator for "
    "evidence; use method='projected'"
)


def notes_of(
    method: str,
    generated: Generated,
    judged: Judged,
    found: Statistics,
    known: Known,
    *,
    has_placebo: bool,
) -> tuple[str, ...]:
    """What should a reader of the audit know?"""
    notes = [*known.notes(), *_about_method(method, has_placebo=has_placebo)]
    for name, values, bound in (
        ("given its own group", generated.composition, COMPOSITION),
        ("taken to another group and back", generated.reversibility, REVERSIBILITY),
    ):
        if len(values) and values.mean() > bound:
            notes.append(
                f"the generator moves an image by {values.mean():.3g} per pixel when it is {name}, "
                f"more than {bound:g}: agreement and generated scores carry this mistake"
            )
    if method in ("projected", "randomization"):
        notes += _silent(generated)
    if method != "randomization" and found.drawn.any():
        notes.append("scores that are constant have no t: their p-values come from redrawn groups")
    rare = int((judged.chances.min(axis=0) < RARE).sum())
    if rare:
        given = f" given {known.listed}" if known.listed else ""
        notes.append(
            f"for {rare:,} of {judged.chances.shape[1]:,} people some group has a chance below "
            f"{RARE:g}{given}: about them these images say little"
        )
    return tuple(notes)


def _about_method(method: str, *, has_placebo: bool) -> tuple[str, ...]:
    if method == "individual":
        return (LIKE_PLACEBO if has_placebo else ARTIFACTS,)
    return (PUBLISHED,) if method == "paired" else ()


def _silent(generated: Generated) -> list[str]:
    silent = int(generated.silent.sum())
    if not silent:
        return []
    return [
        f"for {silent} of {generated.silent.size} classifiers and findings the generator moves no "
        "score between groups, so that there is no direction to look in: p = 1 says nothing more"
    ]
