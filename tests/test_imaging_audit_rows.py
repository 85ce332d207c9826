"""Is everything in its place: scores under their groups, answers in their rows, people in folds?"""

from dataclasses import replace

import numpy as np
import pytest
import torch

from causalfairness import imaging
from causalfairness.imaging.auditing import statistics
from causalfairness.imaging.auditing.generating import generated_scores
from causalfairness.imaging.auditing.statistics import calibrated_effect, features_of
from causalfairness.imaging.simulator import Simulator
from causalfairness.invariance import demographic_parity_test, equal_opportunity_test
from causalfairness.invariance.scores import Judged

torch.set_num_threads(1)
NAMES = ("White", "Black", "Asian")


class Adding:
    """What is told adds so much to every pixel, in place of what the own group adds."""

    def __init__(self, *steps, unknown=0.0, wrong=0.0):
        self.steps, self.unknown, self.wrong, self.told = steps, unknown, wrong, []

    def counterfactual(self, images, parents, *, group):
        told = torch.as_tensor(group).expand(len(images))
        self.told += told.tolist()
        steps = torch.tensor([*self.steps, self.unknown])  # the last one is that of -1
        moved = steps[told] - steps[parents.group] + self.wrong * (told != parents.group)
        return images + moved[:, None, None, None]


def gray(images):
    return images.mean((1, 2, 3))


def two_findings(images):
    """The left and the right half."""
    return torch.stack([images[..., :8].mean((1, 2, 3)), images[..., 8:].mean((1, 2, 3))], 1)


@pytest.fixture(scope="module")
def films():
    drawn = Simulator(size=16, strength=2.0).draw(200, seed=4)
    return 0.2 + 0.6 * drawn.images(), drawn.parents


# --- scores under their groups --------------------------------------------------------------------


def test_scores_stand_under_the_groups_that_were_told(films):
    images, people = films
    found = generated_scores(gray, images, people, generator=Adding(0.0, 0.02, 0.05), batch=64)
    steps = np.array([0.0, 0.02, 0.05])
    own = people.group.numpy()
    moved = found.counterfactual[..., 0, 0] - found.original[None, :, 0, 0]
    assert moved == pytest.approx(steps[:, None] - steps[own], abs=1e-6)
    assert found.composition == pytest.approx(0, abs=1e-7)
    assert found.reversibility == pytest.approx(0, abs=1e-7)


def test_the_way_back_goes_through_another_group(films):
    images, people = films
    found = generated_scores(gray, images, people, generator=Adding(0, 0, 0, wrong=0.02))
    assert found.composition.max() == 0
    assert found.reversibility == pytest.approx(0.04, abs=1e-6)


def test_groups_may_have_any_codes(films):
    images, people = films
    some = people.group != 1
    people, images = people.take(some), images[some]
    found = generated_scores(gray, images, people, generator=Adding(0.0, 9.0, 0.03), groups=NAMES)
    assert found.groups == ("White", "Asian")
    assert found.own.tolist() == (people.group == 2).long().tolist()
    moved = (found.counterfactual - found.original)[..., 0, 0]
    assert moved[1][found.own == 0] == pytest.approx(0.03, abs=1e-6)
    assert found.composition.max() < 1e-6


def test_the_published_test_asks_under_a_group_that_nobody_names(films):
    images, people = films
    generator = Adding(0.0, 0.01, 0.02, unknown=0.04)
    found = generated_scores(gray, images, people, generator=generator, withheld=True)
    own = np.array([0.0, 0.01, 0.02])[people.group.numpy()]
    expected = found.original[:, 0, 0] + 0.04 - own
    assert found.withheld[:, 0, 0] == pytest.approx(expected, abs=1e-6)
    for method, asked in (("paired", True), ("projected", False)):
        generator = Adding(0.0, 0.01, 0.02)
        imaging.audit(gray, images, people, generator=generator, method=method)
        assert (-1 in generator.told) == asked


# --- answers in their rows ------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found(films):
    images, people = films
    readers = {
        "halves": two_findings,
        "noise": lambda x: (7e4 * two_findings(x)).sin(),
        "mixed": lambda x: (
            two_findings(x) * torch.tensor([1.0, 0.0]) + (9e4 * two_findings(x)).cos()
        ),
    }
    labels = people.findings[:, :2].clone()
    labels[:60] = -1
    generator = Adding(0.0, 0.03, -0.03)
    return labels, imaging.audit(
        readers, images, people, generator=generator, findings=["left", "right"], labels=labels
    )


def test_every_row_is_that_of_its_classifier_and_finding(found):
    _, audit = found
    rows = audit.table().to_records()
    assert [(row["model"], row["finding"]) for row in rows] == [
        (model, finding) for model in ("halves", "noise", "mixed") for finding in ("left", "right")
    ]
    for at, row in enumerate(rows):
        place = divmod(at, 2)
        assert row["p_value"] == audit.p_value[place]
        assert row["statistic"] == audit.statistic[place]
        assert row["agreement"] == audit.agreement.value[place]
        said = audit.generated.original[:, *place]
        own = [audit.generated.groups[code] for code in audit.generated.own]
        alone = demographic_parity_test(said[:, None], own)
        assert row["parity_p_value"] == pytest.approx(alone.p_value[0])
    assert len({row["p_value"] for row in rows}) == 6


def test_opportunity_is_that_of_the_finding_among_those_who_have_it(found):
    labels, audit = found
    rows = audit.table().to_records()
    own = np.array([audit.generated.groups[code] for code in audit.generated.own])
    for at, row in enumerate(rows):
        model, finding = divmod(at, 2)
        has = (labels[:, finding] == 1).numpy()
        said = audit.generated.original[has, model, finding][:, None]
        alone = equal_opportunity_test(said, own[has], np.ones(has.sum()), favorable=1)
        assert row["opportunity_n"] == has.sum()
        assert row["opportunity_p_value"] == pytest.approx(alone.p_value[0])


def test_the_level_is_that_of_every_test_beside(films):
    images, people = films
    audit = imaging.audit(
        gray, images, people, generator=Adding(0, 0.01, 0), level=0.9, findings=["edema"]
    )
    tests = (audit.test, audit.parity, audit.opportunity["edema"])
    assert [each.level for each in tests] == [0.9] * 3


def test_chance_follows_the_seed(films):
    images, people = films
    generator = Adding(0.0, 0.02, -0.02)
    asked = [
        imaging.audit(gray, images, people, generator=generator, seed=seed).statistic.item()
        for seed in (0, 0, 1)
    ]
    assert asked[0] == asked[1] != asked[2]


def test_scores_that_are_apart_by_the_tolerance_agree(films):
    _, people = films
    images = torch.full((200, 1, 16, 16), 0.5)
    generator = Adding(0.0, 0.125, 0.25)
    for tolerance, shares in ((0.125, {0: 2, 1: 3, 2: 2}), (0.124, {0: 1, 1: 1, 2: 1})):
        audit = imaging.audit(gray, images, people, generator=generator, tolerance=tolerance)
        expected = np.mean([shares[code] / 3 for code in people.group.tolist()])
        assert audit.agreement.value.item() == pytest.approx(expected)


def test_one_perfect_image_does_not_silence_the_note_about_the_others(films):
    images, people = films

    class Rough(Adding):
        def counterfactual(self, images, parents, *, group):
            return images + 0.02 * (images.mean((1, 2, 3), keepdim=True) < images.mean() + 1)

    images = images.clone()
    images[0] = 0.999
    made = generated_scores(gray, images, people, generator=Rough(0, 0, 0))
    one = replace(made, composition=np.r_[0.0, made.composition[1:]])
    notes = imaging.audit_scores(one, people).notes
    assert any("0.0199 per pixel when it is given its own group" in note for note in notes)


# --- people in folds, and the size of an effect ---------------------------------------------------


def test_nobody_is_judged_by_what_was_learned_from_them(monkeypatch):
    learned = []

    def chances(lines, group, asked, levels, **more):
        learned.append(({*map(tuple, lines)}, {*map(tuple, asked)}))
        return np.full((levels, len(asked)), 1 / levels)

    def regress(lines, target, asked, **more):
        learned.append(({*map(tuple, lines)}, {*map(tuple, asked)}))
        return np.zeros((len(asked), target.shape[1]))

    monkeypatch.setattr(statistics, "chances_of_groups", chances)
    monkeypatch.setattr(statistics, "regress", regress)
    rng = np.random.default_rng(0)
    known = statistics.Described.of_lines(rng.normal(size=(60, 2)))
    said = rng.normal(size=(60, 1))
    statistics.judged_between_people(said, np.stack([said, said]), np.arange(60) % 2, known, rng)
    assert len(learned) == 2 * 5
    assert all(not known & asked for known, asked in learned)
    assert len(set.union(*(asked for _, asked in learned))) == 60


def test_a_small_group_is_in_every_fold():
    group = np.repeat([0, 1], [90, 10])
    for seed in range(5):
        folds = statistics._folds(group, np.random.default_rng(seed))
        assert sorted(np.concatenate(folds)) == list(range(100))
        assert [int((group[fold] == 1).sum()) for fold in folds] == [2] * 5


def test_a_generator_that_points_the_other_way_has_no_effect():
    own = np.arange(40) % 2
    noise = np.random.default_rng(0).normal(size=40)
    expected = np.zeros((2, 40, 1))
    expected[1] = -1.0
    judged = Judged((own + 0.1 * noise)[:, None], own, expected, np.full((2, 40), 0.5))
    found = calibrated_effect(judged)
    assert found.value.item() == 0
    assert found.noise.item() == pytest.approx(np.sqrt((judged.surprise**2).mean()))


def test_a_placebo_that_moves_more_than_the_generator_speaks_for_invariance(films):
    images, people = films
    few, many = Adding(0.0, 0.02, -0.02), Adding(0.0, 0.2, -0.2)
    asked = {"generator": few, "method": "individual"}
    worse = imaging.audit(gray, images, people, placebo=many, **asked)
    assert worse.p_value.item() > 0.95
    assert imaging.audit(gray, images, people, placebo=Adding(0, 0, 0), **asked).p_value < 0.01


def test_evidence_without_spread_is_judged_by_redrawn_groups():
    people = Simulator(size=16).draw(120, seed=0).parents
    blank = torch.full((120, 5), -1)
    unknown = torch.full((120,), -1)
    nobody = replace(
        people,
        group=torch.arange(120) % 2,
        age=torch.full((120,), float("nan")),
        sex=unknown,
        scanner=unknown,
        findings=blank,
    )
    made = generated_scores(
        gray, torch.zeros(120, 1, 16, 16), nobody, generator=Adding(0.0, 0.1, 0.2)
    )
    group = made.own.astype(float)[:, None, None]
    levels = np.arange(2.0)[:, None, None, None]
    right = replace(made, original=group, counterfactual=np.broadcast_to(levels, (2, 120, 1, 1)))
    still = replace(right, counterfactual=np.broadcast_to(group, (2, 120, 1, 1)))
    alone = imaging.audit_scores(right, nobody, method="individual")
    compared = imaging.audit_scores(right, nobody, method="individual", placebo=still)
    assert alone.p_value.item() == compared.p_value.item() < 0.01
    against = imaging.audit_scores(still, nobody, method="individual", placebo=right)
    assert against.p_value.item() == 1


@pytest.mark.parametrize("constant", [0.0, 0.1, 0.7, 1.0, 123.456])
def test_scores_that_are_the_same_for_everyone_say_nothing(films, constant):
    images, people = films
    made = generated_scores(gray, images, people, generator=Adding(0.0, 0.03, -0.03))
    saturated = replace(made, original=np.full_like(made.original, constant))
    for method in ("projected", "randomization"):
        found = imaging.audit_scores(saturated, people, method=method)
        assert (found.statistic.item(), found.p_value.item()) == (0.0, 1.0)


def test_what_is_known_of_people_is_in_columns(films):
    _, people = films
    lines, curves = features_of(people)
    assert np.linalg.matrix_rank(np.hstack([lines, curves])) == lines.shape[1] + curves.shape[1]
