"""Does a classifier use the group to read an image? The audit, from images to answers (CIT-LR).

Every image is made again under every group (`generating`), classifiers are asked about all of them,
and the answers are tested (`statistics`). Beside the test stand the agreement of decisions between
groups (ECA), and two questions the audit is often confused with: do groups get different scores
(demographic parity), and do they among people who have the finding (equal opportunity)?
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from causalfairness.errors import InvarianceError, LabelError, ParentsError, TooFewRowsError
from causalfairness.imaging.auditing.generating import Generated, generated_scores, people_of
from causalfairness.imaging.auditing.known import Known, notes_of
from causalfairness.imaging.auditing.result import Agreement, ImagingAudit
from causalfairness.imaging.auditing.statistics import (
    METHODS,
    Method,
    asked,
    features_of,
    judged_between_people,
)
from causalfairness.imaging.classifiers.scoring import Images, Readers
from causalfairness.imaging.counterfactuals import CounterfactualGenerator, Names, group_name
from causalfairness.imaging.parents import FINDINGS, UNKNOWN, Parents, codes_of
from causalfairness.invariance import (
    InvarianceTest,
    demographic_parity_test,
    equal_opportunity_test,
)
from causalfairness.invariance.reading import FEWEST as FEW
from causalfairness.invariance.statistics import Statistics
from causalfairness.tables import Column
from causalfairness.tables.fingerprint import arrange
from causalfairness.tables.target import check_threshold

Array = NDArray[np.float64]
UNLABELED = (
    "nothing says who has what is scored: equal opportunity was not asked. Name what the outputs "
    "are (findings=...), as the images do: " + ", ".join(FINDINGS)
)
FEWEST = 10  # people of a group: two in every fold


def audit(
    classifiers: Readers,
    images: Images,
    parents: Parents | None = None,
    *,
    generator: CounterfactualGenerator,
    groups: Sequence[str] | None = None,
    findings: Sequence[str] | None = None,
    labels: Any = None,
    method: Method = "projected",
    placebo: CounterfactualGenerator | None = None,
    threshold: float | None = None,
    tolerance: float | None = None,
    level: float = 0.95,
    draws: int = 999,
    batch: int = 64,
    device: torch.device | str | None = None,
    seed: int = 0,
    folder: Path | str | None = None,
    stamp: str = "",
) -> ImagingAudit:
    """Does a classifier use the group to read these images?

    `classifiers` is one callable or several by name, on batches of images, with one score per image
    or one per finding. `parents` holds group, age, sex, scanner and findings of everyone; it may be
    left out where the images have it. There is one image of each person. `generator` makes images
    under other groups; it must not have been trained on these. `folder` keeps what was made, so
    that an audit that stops goes on.

    The `method` is "projected" (the generator says where to look, what classifiers say of real
    images decides), "randomization" (the same, with groups drawn anew `draws` times), "individual"
    (each image against its own counterfactuals: whatever the generator does wrong counts as
    dependence, unless `placebo`, a generator that was trained with permuted groups, does as much
    wrong) or "paired" (the published test, for replication). The first two are valid whatever the
    generator does wrong, if the other parents explain why groups would differ, and if how scores or
    how groups follow them (m or pi of `statistics`) is learned well: by lines, curves of age, age
    by everything else, and sex by scanner.

    Decisions are scores above `threshold` (where there is none, above the value that parts these
    people most evenly, each classifier's median); with a `tolerance` scores agree that differ by no
    more. `findings` names the outputs in order; networks of this library have theirs. `labels` says
    who has which finding, for equal opportunity (0, 1, -1 for unknown); without it the parents do,
    for outputs with the names of their findings.

    >>> from causalfairness.imaging.analytic import fit_gaussian
    >>> from causalfairness.imaging.simulator import Simulator
    >>> simulator = Simulator(size=16, strength=2.0)
    >>> others, films = simulator.draw(800, seed=1), simulator.draw(200, seed=2)
    >>> generator = fit_gaussian(others.images(), others.parents, components=20)
    >>> found = audit({"brightness": lambda x: x.mean((1, 2, 3))}, films, generator=generator)
    >>> bool(found.test.rejected[0])
    True
    """
    check_threshold(threshold)
    check_settings(method, level, draws, tolerance, has_placebo=placebo is not None)
    people = people_of(images, parents)
    names = getattr(images, "groups", None) if groups is None else groups
    _check_people(images)
    _check_groups(people, names)
    _label_table(labels, len(people))
    made, compared = (
        None
        if by is None
        else generated_scores(
            classifiers,
            images,
            people,
            generator=by,
            groups=names,
            findings=findings,
            withheld=method == "paired",
            batch=batch,
            device=device,
            folder=None if folder is None else Path(folder, name),
            stamp=stamp,
        )
        for name, by in (("generated", generator), ("placebo", placebo))
    )
    assert made is not None
    return audit_scores(
        made,
        people,
        labels=labels,
        method=method,
        placebo=compared,
        threshold=threshold,
        tolerance=tolerance,
        level=level,
        draws=draws,
        seed=seed,
    )


def audit_scores(
    generated: Generated,
    parents: Parents,
    *,
    labels: Any = None,
    method: Method = "projected",
    placebo: Generated | None = None,
    threshold: float | None = None,
    tolerance: float | None = None,
    level: float = 0.95,
    draws: int = 999,
    seed: int = 0,
) -> ImagingAudit:
    """What does an audit find in scores that are there already? `generated_scores` gives them.

    >>> from causalfairness.imaging.counterfactuals import DoNothing
    >>> from causalfairness.imaging.simulator import Simulator
    >>> films = Simulator(size=16).draw(90, seed=0)
    >>> made = generated_scores(lambda x: x.mean((1, 2, 3)), films, generator=DoNothing())
    >>> float(audit_scores(made, films.parents).p_value[0, 0])
    1.0
    """
    check_threshold(threshold)
    check_settings(method, level, draws, tolerance, has_placebo=placebo is not None)
    if len(parents) != len(generated):
        raise ParentsError(f"scores of {len(generated)} people came with parents of {len(parents)}")
    codes = parents.group.unique().tolist()
    _check_same_people(parents, generated)
    _check_groups(parents, dict(zip(codes, generated.groups, strict=True)))
    rows = _by_content(parents, generated)  # folds and draws belong to people
    made, beside = generated.take(rows), None if placebo is None else placebo.take(rows)
    said = made.original.reshape(len(made), -1)
    under = made.counterfactual.reshape(len(made.groups), *said.shape)
    splitting, drawing = np.random.default_rng(seed).spawn(2)
    features = features_of(parents.take(torch.as_tensor(rows)))
    judged = judged_between_people(said, under, made.own, features, splitting)
    found = asked(method, judged, made, beside, draws=draws, rng=drawing)
    known = Known.of(parents)
    notes = notes_of(method, generated, judged, found, known, has_placebo=placebo is not None)
    test = _as_test(generated, method, found, level, known, notes)
    opportunity, unasked = _opportunity(generated, _labels(labels, parents, generated), level)
    own = [generated.groups[at] for at in made.own]
    parity = demographic_parity_test(said, own, level=level)
    return ImagingAudit(
        test=test,
        parity=replace(parity, models=test.models),
        opportunity=opportunity,
        agreement=_agreement(generated, threshold, tolerance),
        generated=generated,
        notes=(*notes, *unasked),
    )


def _by_content(parents: Parents, generated: Generated) -> NDArray[np.int64]:
    """People in an order of what is known and said of them, whatever theirs is."""
    known = codes_of(parents).double().cpu().numpy().T
    said = generated.original.reshape(len(generated), -1).T
    told, ties = (
        [Column.numbers(str(at), each) for at, each in enumerate(of)] for of in (known, said)
    )
    return arrange(told, ties).rows


def check_settings(
    method: str, level: float, draws: int, tolerance: float | None, *, has_placebo: bool
) -> None:
    """Can an audit be done like this? Refused before anything is generated."""
    if method not in METHODS:
        raise InvarianceError(f"method must be one of {', '.join(METHODS)}; found {method!r}")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, for instance 0.95; found {level!r}")
    if draws < 19:
        raise InvarianceError(f"draws must be 19 or more for a p-value of 0.05; found {draws!r}")
    if tolerance is not None and not tolerance >= 0:
        raise InvarianceError(f"tolerance must be 0 or more; found {tolerance!r}")
    if has_placebo and method != "individual":
        raise InvarianceError(
            f"a placebo belongs to method='individual'; method={method!r} is not misled by what "
            "a generator does wrong and has no use for one"
        )


def _check_people(images: Images) -> None:
    """Several images of a person are no different people: t would be too large."""
    patients = getattr(images, "patients", None)
    if patients is not None and len(set(patients)) < len(patients):
        raise InvarianceError(
            f"{len(patients):,} images are of {len(set(patients)):,} people; the test counts every "
            "image as another person: audit films.one_each(), the first film of each"
        )


def _check_same_people(parents: Parents, generated: Generated) -> None:
    """Are these the people whose scores they are, in that order? Their groups tell."""
    codes, place = parents.group.cpu().unique(return_inverse=True)
    own = np.unique(generated.own, return_inverse=True)[1]
    apart = int((place.numpy() != own).sum())
    if apart or (codes < 0).any():
        raise ParentsError(
            f"the scores are of people of other groups than these parents, {apart:,} of "
            f"{len(parents):,}; pass the parents that the scores were made with, in their order"
            if apart
            else "the group of some people is not known; leave them out of the audit, with `take`"
        )


def _check_groups(parents: Parents, names: Names) -> None:
    codes, sizes = (each.tolist() for each in parents.group.unique(return_counts=True))
    if len(codes) < 2:
        one = group_name(codes[0], names)
        raise InvarianceError(f"everyone is of {one}; two groups are needed")
    if min(sizes) < FEWEST:
        few = group_name(codes[sizes.index(min(sizes))], names)
        raise TooFewRowsError(
            f"{few} has {min(sizes)} images; at least {FEWEST} are needed, to learn from and "
            "to judge by: merge small groups or leave them out"
        )


def _as_test(
    generated: Generated,
    method: str,
    found: Statistics,
    level: float,
    known: Known,
    notes: tuple[str, ...],
) -> InvarianceTest:
    return InvarianceTest(
        claim=known.claim(method),
        models=tuple(f"{it}, {of}" for it in generated.models for of in generated.findings),
        groups=generated.groups,
        statistic=found.statistic,
        log_p_value=found.log_p_value,
        effect=found.effect.value,
        standard_error=found.effect.error,
        score=found.effect.score,
        noise=found.effect.noise,
        n=found.people,
        level=level,
        assumptions=known.assumptions(),
        notes=notes,
    )


def _agreement(generated: Generated, threshold: float | None, tolerance: float | None) -> Agreement:
    said, under = generated.original, generated.counterfactual
    bar = None
    if tolerance is not None:
        same = np.abs(under - said) <= tolerance
    else:
        shape = said.shape[1:]
        bar = halving(said) if threshold is None else np.full(shape, float(threshold))
        same = (under > bar) == (said > bar)
    shares = same.mean(axis=0)
    error = shares.std(axis=0, ddof=1) / np.sqrt(len(shares))
    return Agreement(shares.mean(axis=0), error, bar, tolerance)


def halving(said: Array) -> Array:
    """Above which value lie the scores of half of the people, or as near to half as there are ties?

    The median; where many have just that score (decisions of 0 and 1, say), a value halfway to the
    next lower score if that parts people more evenly.

    >>> halving(np.array([1.0, 2.0, 4.0, 5.0])), halving(np.array([0.0, 1.0, 1.0, 1.0]))
    (array(3.), array(0.5))
    """
    middle = np.median(said, axis=0)
    people, above, there = len(said), (said > middle).sum(axis=0), (said >= middle).sum(axis=0)
    lower = np.where(said < middle, said, -np.inf).max(axis=0)
    evener = (np.abs(2 * there - people) < np.abs(2 * above - people)) & np.isfinite(lower)
    return np.where(evener, middle / 2 + np.where(evener, lower, middle) / 2, middle)


def _labels(labels: Any, parents: Parents, generated: Generated) -> NDArray[np.int64] | None:
    """Who has which finding? None where nothing says so."""
    wanted = (len(generated), len(generated.findings))
    if labels is None:
        places = {name: at for at, name in enumerate(FINDINGS)}
        told = parents.findings.cpu().numpy().astype(np.int64)
        known = [places.get(name) for name in generated.findings]
        if not any(place is not None for place in known):
            return None
        nobody = np.full(len(told), UNKNOWN)
        return np.stack([nobody if at is None else told[:, at] for at in known], axis=1)
    found = _label_table(labels, len(generated))
    if found.shape != wanted:
        raise LabelError(
            f"labels have the shape {found.shape}; expected {wanted}, a row per image and a column "
            "per finding"
        )
    return found


def _label_table(labels: Any, people: int) -> NDArray[np.int64]:
    """Labels as a table of 0, 1 and -1, a row for each of the people; refused before the work."""
    if labels is None:
        return np.empty((people, 0), dtype=np.int64)
    try:
        found = np.asarray(torch.as_tensor(labels).cpu())
    except (TypeError, ValueError, RuntimeError) as cause:
        raise LabelError(
            f"labels are {type(labels).__name__}, no numbers ({cause}); expected 0, 1, or -1 for "
            "unknown, a row per image and a column per finding"
        ) from cause
    found = found.reshape(-1, 1) if found.ndim == 1 else found
    if found.ndim != 2 or len(found) != people:
        raise LabelError(
            f"labels have the shape {found.shape}; expected a row for each of {people:,} images "
            "and a column per finding"
        )
    strange = np.setdiff1d(found, (0, 1, UNKNOWN))
    if len(strange):
        raise LabelError(f"labels hold {strange[0]}; expected 0, 1, or -1 for unknown")
    return found.astype(np.int64)


def _opportunity(
    generated: Generated, labels: NDArray[np.int64] | None, level: float
) -> tuple[dict[str, InvarianceTest], list[str]]:
    """Do groups get different scores among people who have the finding? Where enough have it."""
    if labels is None:
        return {}, [UNLABELED]
    found, notes = {}, []
    for at, finding in enumerate(generated.findings):
        if (labels[:, at] == UNKNOWN).all():
            notes.append(f"nothing says who has {finding}: equal opportunity was not asked for it")
            continue
        has = labels[:, at] == 1
        sizes = np.bincount(generated.own[has], minlength=len(generated.groups))
        if sizes.min() < FEW:
            notes.append(
                f"equal opportunity was not asked for {finding}: {sizes.min()} people of "
                f"{group_name(int(sizes.argmin()), generated.groups)} have it, fewer than {FEW}"
            )
            continue
        group = [generated.groups[it] for it in generated.own[has]]
        scores = generated.original[has][:, :, at]
        test = equal_opportunity_test(scores, group, np.ones(len(group)), favorable=1, level=level)
        found[finding] = replace(test, models=generated.models)
    return found, notes
