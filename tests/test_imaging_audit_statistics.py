"""Does the audit keep its level whatever the generator does wrong, and find what is there?

People are those of the simulator, with its confounding; what classifiers say of them is made here,
so that invariance holds exactly, and so is what a bad generator would make of it.
"""

import math

import numpy as np
import pytest
import torch

from causalfairness.imaging.auditing import Generated, audit_scores
from causalfairness.imaging.auditing.statistics import (
    features_of,
    features_of_codes,
    judged_between_people,
)
from causalfairness.imaging.parents import Parents
from causalfairness.imaging.simulator import Simulator
from causalfairness.invariance import demographic_parity_test
from causalfairness.invariance.statistics import projected, randomization

torch.set_num_threads(1)
COLUMNS, PEOPLE = 40, 300
GROUPS = ("a", "b", "c")


def people(seed, *, n=PEOPLE, shift=0.0):
    return Simulator(size=16, prevalence_shift=shift).draw(n, seed=seed).parents


def invariant(parents, rng):
    """Scores that follow findings, age and noise of their own, in every group the same."""
    findings = parents.findings.double().numpy()
    drift = 2 * findings @ rng.dirichlet(np.ones(5), COLUMNS).T + parents.age.numpy()[:, None]
    return 1 / (1 + np.exp(-(drift - 1 + rng.normal(size=drift.shape))))


def paler(said, own, rng):
    """Images of other groups lose a tenth of their score: what follows the group means of it."""
    return np.where(own, said, 0.9 * said)


def noisy(said, own, rng):
    return np.where(own, said, said + 0.1 * rng.normal(size=(3, *said.shape)))


def pulled(said, own, rng):
    """A mistake that is the same for everybody, in the direction of the group told."""
    return said + np.array([0.0, 0.1, -0.1])[:, None, None]


def of_findings(said, own, rng):
    """Other groups are pulled to the middle, people with high scores most."""
    return np.where(own, said, said - 0.2 * (said - 0.5) ** 3)


MISTAKES = {"paler": paler, "noisy": noisy, "pulled": pulled, "of_findings": of_findings}


def made_from(parents, said, mistake, rng):
    own = parents.group.numpy() == np.arange(3)[:, None]
    return mistake(said, own[..., None], rng)


def judged(parents, said, under, rng):
    return judged_between_people(said, under, parents.group.numpy(), features_of(parents), rng)


def rates(*, shift, draws, first=0):
    """How often is true invariance rejected at 0.05, draw by draw? By mistake, and by parity."""
    audit, parity = [], []
    for seed in range(first, first + draws):
        rng = np.random.default_rng(seed)
        parents = people(seed, shift=shift)
        said = invariant(parents, rng)
        under = [made_from(parents, said, mistake, rng) for mistake in MISTAKES.values()]
        everything = np.hstack([said] * len(under))
        part = judged(parents, everything, np.concatenate(under, axis=2), rng)
        low = projected([part], 99, rng).log_p_value < math.log(0.05)
        audit.append(low.reshape(len(under), -1).mean(axis=1))
        parity.append((demographic_parity_test(said, parents.group.numpy()).p_value < 0.05).mean())
    return dict(zip(MISTAKES, np.transpose(audit), strict=True)), np.mean(parity)


def generated(parents, said, under, **more):
    n = len(parents)
    return Generated(
        models=("m",),
        findings=tuple(f"f{at}" for at in range(said.shape[1])),
        groups=GROUPS,
        own=parents.group.numpy(),
        original=said[:, None],
        counterfactual=under[:, :, None],
        composition=np.zeros(n),
        reversibility=np.zeros(5),
        **more,
    )


# --- level --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_true_invariance_is_rejected_no_more_often_than_the_level(shift):
    audit, parity = rates(shift=shift, draws=7)
    for mistake, found in audit.items():
        # 280 tests, correlated within a draw: three standard errors, as measured between draws, or
        # those of independent tests if they are larger, 0.013
        error = max(found.std(ddof=1) / math.sqrt(len(found)), math.sqrt(0.05 * 0.95 / 280))
        assert found.mean() <= 0.05 + 3 * error, mistake
    if shift:
        assert parity > 0.5  # findings differ between groups, and so do scores


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 1.5])
def test_the_level_over_many_draws(shift):
    audit, _ = rates(shift=shift, draws=150, first=1_000)
    for mistake, found in audit.items():
        assert found.mean() <= 0.07, mistake


def test_the_worst_generator_stays_near_the_level_as_the_module_says():
    """Images of other groups that are half as bright: c is made of the chance differences of y."""
    rejected = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        parents = people(seed, n=400)
        said = invariant(parents, rng)
        under = made_from(parents, said, lambda it, own, _: np.where(own, it, 0.5 * it), rng)
        found = projected([judged(parents, said, under, rng)], 99, rng)
        rejected.append((found.log_p_value < math.log(0.05)).mean())
    # the columns of a draw share their people: as if each draw were 10 independent tests, whose
    # standard error is 0.03
    assert np.mean(rejected) <= 0.10 + 2 * math.sqrt(0.1 * 0.9 / 100)


def test_age_that_acts_in_a_curve_on_group_and_score_is_not_taken_for_dependence():
    """The young and the old are more often of one group and score higher; the group is not read."""
    rejected = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        parents, curve = curved_people(rng)
        slopes = 0.3 + 0.5 * rng.random(COLUMNS)
        weights = 0.5 * rng.random((5, COLUMNS))
        said = curve[:, None] * slopes + parents.findings.numpy() @ weights
        said += 0.7 * rng.normal(size=said.shape)
        under = said + np.array([-0.3, 0.0, 0.3])[:, None, None]
        found = projected([judged(parents, said, under, rng)], 99, rng)
        rejected.append((found.log_p_value < math.log(0.05)).mean())
    # 10 draws whose columns share their people: as if each were 10 independent tests, whose
    # standard error is 0.022; without squares and curves of age 0.38
    assert np.mean(rejected) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)


def curved_people(rng, n=400):
    age = rng.uniform(0.2, 0.9, n)
    curve = ((age - 0.55) / 0.2) ** 2 - 1
    chances = np.exp(0.5 * np.outer([-1, 0, 1], curve))
    chances /= chances.sum(axis=0)
    group = (rng.random(n) > np.cumsum(chances, axis=0)[:-1]).sum(axis=0)
    others = [rng.integers(0, 2, n), rng.integers(0, 3, n), (rng.random((n, 5)) < 0.3).astype(int)]
    told = torch.tensor(group), torch.tensor(age).float(), *map(torch.tensor, others)
    return Parents(*told), curve


def test_a_generator_that_is_right_leaves_nothing_to_find():
    rng = np.random.default_rng(0)
    parents = people(0)
    said = invariant(parents, rng)
    found = projected([judged(parents, said, np.stack([said] * 3), rng)], 99, rng)
    assert (found.statistic == 0).all()
    assert (found.log_p_value == 0).all()


def test_redrawn_groups_have_the_level_too():
    rejected = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        parents = people(seed, shift=1.5)
        said = invariant(parents, rng)
        part = judged(parents, said, made_from(parents, said, pulled, rng), rng)
        rejected.append(np.exp(randomization([part], 199, rng).log_p_value) <= 0.05)
    assert np.mean(rejected) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 100)


# --- power --------------------------------------------------------------------------------------


def dependent(parents, rng, size):
    base = invariant(parents, rng)
    push = size * np.array([0.0, 1.0, -0.5])
    worlds = base + push[:, None, None]
    return worlds[parents.group.numpy(), np.arange(len(parents))], worlds


def agreement(said, worlds):
    bar = np.median(said, axis=0)
    return ((worlds > bar) == (said > bar)).mean()


def test_dependence_is_found_in_500_images_where_a_tenth_of_decisions_changes():
    """Whether the generator is right, or wrong on top of what is there."""
    rejected, agreed = [], []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        parents = people(seed, n=500)
        said, worlds = dependent(parents, rng, size=0.1)
        wrong = [0.5 * (made_from(parents, said, it, rng) - said) for it in MISTAKES.values()]
        under = np.concatenate([worlds, *(worlds + each for each in wrong)], axis=2)
        everything = np.hstack([said] * (1 + len(wrong)))
        found = projected([judged(parents, everything, under, rng)], 99, rng)
        low = found.log_p_value < math.log(0.05)
        rejected.append(low.reshape(1 + len(wrong), -1).mean(axis=1))
        agreed.append(agreement(said, worlds))
    assert 0.87 < np.mean(agreed) < 0.93
    assert (np.mean(rejected, axis=0) >= 0.9).all()


def test_dependence_that_differs_between_people_is_found():
    """Women are pushed up, men down: on average nothing changes."""
    rng = np.random.default_rng(5)
    parents = people(5, n=500)
    sign = 2.0 * parents.sex.numpy()[:, None] - 1
    base = invariant(parents, rng)
    worlds = base + 0.12 * np.array([0.0, 1.0, -1.0])[:, None, None] * sign
    said = worlds[parents.group.numpy(), np.arange(500)]
    found = projected([judged(parents, said, worlds, rng)], 99, rng)
    assert (found.log_p_value < math.log(0.05)).mean() > 0.9


def test_the_effect_is_the_variance_that_the_group_adds():
    """push (0, .4, -.2), pi(a | w) near its share: sum of pi (push - mean)^2, within 15%."""
    rng = np.random.default_rng(7)
    parents = people(7, n=2_000)
    said, worlds = dependent(parents, rng, size=0.4)
    part = judged(parents, said, worlds, rng)
    found = projected([part], 99, rng)
    push = 0.4 * np.array([0.0, 1.0, -0.5])
    mean = push @ part.chances
    truth = float(((push[:, None] - mean) ** 2 * part.chances).sum(axis=0).mean())
    # each column has a standard error; their mean over 40 columns is close
    assert found.effect.value.mean() == pytest.approx(truth, rel=0.15)
    covered = np.abs(found.effect.value - truth) <= 2.6 * found.effect.error
    assert covered.mean() > 0.85


@pytest.mark.parametrize("times", [0.2, 2.0])
def test_the_effect_is_right_where_the_generator_has_the_direction_right_and_not_the_size(times):
    rng = np.random.default_rng(7)
    parents = people(7, n=1_000)
    said, worlds = dependent(parents, rng, size=0.4)
    wrong = worlds[0] + times * (worlds - worlds[0])
    right, other = (
        audit_scores(generated(parents, said, under), parents) for under in (worlds, wrong)
    )
    assert other.log_p_value == pytest.approx(right.log_p_value, rel=1e-3)
    part = judged(parents, said, worlds, rng)
    push = 0.4 * np.array([0.0, 1.0, -0.5])
    truth = float(((push[:, None] - push @ part.chances) ** 2 * part.chances).sum(axis=0).mean())
    assert other.test.effect.mean() == pytest.approx(truth, rel=0.15)  # as with the right size
    assert (np.abs(other.test.effect - truth) <= 2.6 * other.test.standard_error).mean() > 0.85
    assert (other.test.upper >= truth).mean() > 0.85
    drawn = audit_scores(generated(parents, said, wrong), parents, method="randomization", draws=19)
    assert drawn.test.effect == pytest.approx(other.test.effect)


def test_a_generator_that_does_nothing_finds_nothing_and_says_so():
    rng = np.random.default_rng(0)
    parents = people(0)
    said, _ = dependent(parents, rng, size=0.4)
    found = audit_scores(generated(parents, said, np.stack([said] * 3)), parents)
    assert (found.p_value == 1).all()
    assert any("no direction to look in" in note for note in found.notes)


# --- the methods that the generator can mislead -------------------------------------------------


def test_within_one_person_mistakes_of_the_generator_count_as_dependence():
    rng = np.random.default_rng(0)
    parents = people(0)
    said = invariant(parents, rng)
    made = generated(parents, said, made_from(parents, said, noisy, rng))
    found = audit_scores(made, parents, method="individual")
    assert (found.p_value < 0.05).all()
    assert any("counts as dependence" in note for note in found.notes)
    assert audit_scores(made, parents).rejected.mean() <= 0.05  # the default is not misled


def test_a_placebo_that_makes_the_same_mistakes_calibrates_it():
    rejected = []
    for seed in range(4):
        rng = np.random.default_rng(seed)
        parents = people(seed)
        said = invariant(parents, rng)
        one, other = (
            generated(parents, said, made_from(parents, said, noisy, rng)) for _ in range(2)
        )
        found = audit_scores(one, parents, method="individual", placebo=other)
        rejected.append((found.p_value < 0.05).mean())
        assert any("placebo" in note for note in found.notes)
    assert np.mean(rejected) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 160)


def test_a_placebo_leaves_the_power_to_find_dependence():
    rng = np.random.default_rng(1)
    parents = people(1)
    said, worlds = dependent(parents, rng, size=0.3)
    placebo = generated(parents, said, made_from(parents, said, noisy, rng))
    made = generated(parents, said, worlds)
    assert audit_scores(made, parents, method="individual", placebo=placebo).rejected.all()


def test_the_published_test_uses_the_withheld_group_where_there_is_one():
    rng = np.random.default_rng(0)
    parents = people(0)
    said = invariant(parents, rng)
    under = made_from(parents, said, noisy, rng)
    plain = audit_scores(generated(parents, said, under), parents, method="paired")
    shifted = generated(parents, said, under, withheld=said[:, None] - 0.05)
    told = audit_scores(shifted, parents, method="paired")
    assert (told.p_value < 1e-6).all()
    assert not (plain.p_value < 1e-6).all()
    assert any("kept for replication" in note for note in told.notes)


# --- what is known about people -----------------------------------------------------------------


def test_unknown_parents_are_a_value_of_their_own():
    known = people(3, n=60)
    age, sex = known.age.clone(), known.sex.clone()
    age[:5], sex[5:9] = math.nan, -1
    some = Parents(known.group, age, sex, known.scanner, known.findings)
    lines, curves = features_of(some)
    assert np.isfinite(lines).all()
    assert np.isfinite(curves).all()
    # not known: the age, the sex, and what age does by sex to those of unknown sex
    assert lines.shape[1] == features_of(known).lines.shape[1] + 3
    assert (curves[:5, :6] == 0).all()  # no bump looks at an age that is not known
    assert (curves[5:, :6].max(axis=1) > 0).all()
    alone = Parents(known.group, *(torch.zeros(60) for _ in range(3)), torch.zeros(60, 5))
    assert [part.shape for part in features_of(alone)] == [(60, 0), (60, 0)]  # nothing varies


BENDS = {
    "bump": lambda w: np.exp(-(((w[:, 0] - 0.45) / 0.08) ** 2)),
    "wave": lambda w: np.sin(2 * np.pi * (w[:, 0] - 0.2) / 0.7 * 1.5),
    "age by scanner": lambda w: (w[:, 0] - 0.55) * (2 * w[:, 2] - 1),
    "age by finding": lambda w: (w[:, 0] - 0.55) * (2 * w[:, 3] - 1),
    "sex by scanner": lambda w: (2 * w[:, 1] - 1) * (2 * w[:, 2] - 1),
}


@pytest.mark.parametrize("bend", BENDS)
def test_what_bends_both_group_and_score_is_not_taken_for_dependence(bend):
    rejected = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        coins = rng.random((500, 7)) < [0.5, 0.5, 0.3, 0.3, 0.3, 0.3, 0.3]
        w = np.column_stack([rng.uniform(0.2, 0.9, 500), coins])
        shared = BENDS[bend](w)
        shared = (shared - shared.mean()) / shared.std()
        group = (rng.random(500) < 1 / (1 + np.exp(-0.7 * shared))).astype(int)
        said = (0.4 * shared + w[:, 0])[:, None] + rng.normal(size=(500, 20))
        known = features_of_codes(np.column_stack([group, w]))
        part = judged_between_people(said, np.stack([said, said + 0.3]), group, known, rng)
        rejected.append((projected([part], 99, rng).log_p_value < math.log(0.05)).mean())
    # 160 tests: measured between draws, or that of independent ones if it is larger, 0.017
    error = max(np.std(rejected, ddof=1) / math.sqrt(8), math.sqrt(0.05 * 0.95 / 160))
    assert np.mean(rejected) <= 0.08 + 2 * error  # lines and age by sex alone: 0.19 to 0.44
