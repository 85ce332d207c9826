"""Does an audit go from images to answers, whatever images and classifiers are brought?

Films of 16 pixels, with a generator that knows the simulator, one fitted to other films, and some
that are broken.
"""

import json
from dataclasses import replace

import numpy as np
import pytest
import torch

from causalfairness import imaging
from causalfairness.errors import (
    CheckpointError,
    ImageError,
    InvarianceError,
    LabelError,
    ParentsError,
    PredictorError,
    TooFewRowsError,
)
from causalfairness.imaging.analytic import fit_gaussian
from causalfairness.imaging.auditing.front_door import halving
from causalfairness.imaging.parents import FINDINGS
from causalfairness.imaging.quality import Judges, quality
from causalfairness.imaging.readers import PlainFolder
from causalfairness.imaging.simulator import Simulator, save_radiographs

torch.set_num_threads(1)
STRONG = Simulator(size=16, strength=2.0)


class Knowing:
    """What if the generator knew the simulator? It finds out who is on an image by its pixels."""

    def __init__(self, films):
        self.films = films
        worlds = [films, *(films.told(group=group) for group in range(3))]
        self.place = {
            image.numpy().tobytes(): row
            for world in worlds
            for row, image in enumerate(world.images())
        }

    def counterfactual(self, images, parents, *, group):
        rows = torch.tensor([self.place[image.numpy().tobytes()] for image in images])
        return self.films.take(rows).told(group=group).images()


class Same:
    def counterfactual(self, images, parents, *, group):
        return images


def brightness(images):
    return images.mean((1, 2, 3))


def corners(images):
    """Five numbers per image, from five places."""
    parts = [images[:, 0, 3 * at : 3 * at + 4, 3 * at : 3 * at + 4] for at in range(5)]
    return torch.stack([part.mean((1, 2)) for part in parts], 1)


@pytest.fixture(scope="module")
def films():
    return STRONG.draw(240, seed=2)


@pytest.fixture(scope="module")
def gaussian():
    others = STRONG.draw(1_000, seed=1)
    return fit_gaussian(others.images(), others.parents, components=20)


@pytest.fixture(scope="module")
def found(films, gaussian):
    readers = {"brightness": lambda x: brightness(x)[:, None].expand(-1, 5), "corners": corners}
    named = {"groups": ["White", "Black", "Asian"], "findings": FINDINGS}
    return imaging.audit(readers, films, generator=gaussian, **named)


# --- what is found ------------------------------------------------------------------------------


def test_the_exact_generator_finds_a_classifier_that_sees_the_group(films):
    found = imaging.audit(brightness, films, generator=Knowing(films))
    assert found.statistic[0, 0] > 8
    assert found.generated.composition.max() == found.generated.reversibility.max() == 0
    truth = torch.stack([brightness(films.told(group=group).images()) for group in range(3)])
    assert found.generated.counterfactual[:, :, 0, 0] == pytest.approx(truth.double().numpy())


def test_with_the_arrow_cut_nothing_changes_and_nothing_is_found():
    films = Simulator(size=16, strength=0.0).draw(120, seed=4)
    found = imaging.audit(corners, films, generator=Knowing(films))
    assert (found.p_value == 1).all()
    assert (found.agreement.value == 1).all()
    assert not found.rejected.any()


def test_a_fitted_generator_agrees_with_the_exact_one(films, gaussian):
    exact = imaging.audit(brightness, films, generator=Knowing(films))
    fitted = imaging.audit(brightness, films, generator=gaussian)
    apart = abs(exact.agreement.value - fitted.agreement.value)
    assert apart.max() < 3 * exact.agreement.error.max() + 0.02
    assert fitted.statistic[0, 0] == pytest.approx(exact.statistic[0, 0], rel=0.1)


def test_an_oracle_that_reads_severity_is_not_rejected(films, gaussian):
    """It says the same of every image of a person: whatever is made of it."""
    severity = (
        {image.numpy().tobytes(): row for row, image in enumerate(films.images())},
        films.severities,
    )

    def oracle(images):
        rows = [severity[0].get(image.numpy().tobytes()) for image in images]
        if None in rows:
            return last[0]
        last[0] = severity[1][rows]
        return last[0]

    last = [None]
    found = imaging.audit(oracle, films, generator=gaussian)
    assert (found.p_value == 1).all()


def test_p_values_are_adjusted_over_classifiers_and_findings(found):
    from causalfairness.inference import benjamini_hochberg

    assert found.p_adjusted.shape == (2, 5)
    assert found.p_adjusted.ravel() == pytest.approx(benjamini_hochberg(found.p_value.ravel()))
    assert (found.p_adjusted >= 0.999999 * found.p_value).all()
    assert (found.p_adjusted > 1.05 * found.p_value).any()


def test_parity_and_opportunity_stand_beside_it(films, found):
    table = found.table()
    assert table["opportunity_n"].tolist()[:5] == films.parents.findings.sum(0).tolist()
    assert (table["parity_p_value"][:5] == table["parity_p_value"][0]).all()
    assert found.parity.models == found.test.models


def test_opportunity_is_not_asked_where_nobody_has_the_finding(films, gaussian):
    labels = torch.zeros(240, 5)
    found = imaging.audit(corners, films, generator=gaussian, labels=labels)
    assert found.opportunity == {}
    assert sum("was not asked for" in note for note in found.notes) == 5
    assert "not asked" in str(found)


def test_agreement_of_decisions_at_a_threshold_and_of_scores(films, gaussian):
    made = imaging.generated_scores(brightness, films, generator=gaussian)
    bar = imaging.audit_scores(made, films.parents, threshold=0.5)
    same = (made.counterfactual > 0.5) == (made.original > 0.5)
    assert bar.agreement.value == pytest.approx(same.mean(axis=(0, 1)))
    assert bar.agreement.error == pytest.approx(
        same.mean(axis=0).std(axis=0, ddof=1) / np.sqrt(240)
    )
    middle = imaging.audit_scores(made, films.parents).agreement.threshold
    assert middle == pytest.approx(np.median(made.original, axis=0))
    near = imaging.audit_scores(made, films.parents, tolerance=0.05).agreement
    close = np.abs(made.counterfactual - made.original) <= 0.05
    assert near.value == pytest.approx(close.mean(axis=(0, 1)))
    assert near.basis == "scores within 0.05"
    assert near.threshold is None


def test_a_rough_generator_is_named(films):
    class Rough(Same):
        def counterfactual(self, images, parents, *, group):
            return images + 0.02

    found = imaging.audit(brightness, films, generator=Rough())
    told = [note for note in found.notes if "the generator moves an image by" in note]
    assert len(told) == 2
    assert "0.02 per pixel when it is given its own group" in told[0]
    assert "0.04 per pixel" in told[1]


def test_what_was_found_can_be_written_and_read(found):
    text = str(found)
    assert text.startswith("projected audit: 240 images of the groups White, Black, Asian")
    for words in ("assumes: ", "ECA of decisions at a threshold", "The scores of brightness"):
        assert words in text
    record = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(record["rows"]) == 10
    assert record["rows"][0]["finding"] == FINDINGS[0]
    assert record["quality"]["composition"] == pytest.approx(0.0, abs=1e-9)
    assert len(found.matrix().splitlines()) == 3
    assert len(found.table().to_pandas()) == 10
    assert "<table" in found._repr_html_()
    with pytest.raises(KeyError, match="no column is named 'nothing'"):
        found.table()["nothing"]


def test_a_score_without_a_name_is_not_named(films, gaussian):
    found, silent = (
        imaging.audit(brightness, films, generator=by).sentences()[0] for by in (gaussian, Same())
    )
    assert silent == (
        "The scores of classifier are not moved by the generator between groups, so that nothing "
        "can be said."
    )
    assert "beyond age, sex, scanner and findings; the group moves them by about" in found
    assert "root mean square (95% bounds" in found
    for said in (found, silent):
        assert "for score" not in said
        assert "(score)" not in said


def test_sentences_bound_what_was_not_found_and_judge_nobody(found, films, gaussian):
    blind = imaging.audit(lambda x: (7e5 * x.sum((1, 2, 3))).sin(), films, generator=gaussian)
    words = " ".join([*found.sentences(), *blind.sentences()])
    assert "depend on the group beyond age, sex, scanner and findings for all findings" in words
    assert "are consistent with no dependence on the group beyond" in words
    assert "that would move them by more than 0." in words
    assert "fair" not in words


def test_many_classifiers_are_counted_and_the_clearest_told(films):
    readers = {f"reader {at}": brightness for at in range(12)}
    found = imaging.audit(readers, films, generator=Knowing(films))
    assert len(found.sentences()) == 11
    assert found.sentences()[0].startswith("The scores of 12 of 12 classifiers depend")


# --- what is known, what outputs are, and what a decision is --------------------------------------


def knowing(people, **unknown):
    """The same people, with less known about them."""
    blank = {"age": torch.full_like(people.age, float("nan"))}
    for name in ("sex", "scanner", "findings"):
        blank[name] = torch.full_like(getattr(people, name), -1)
    return replace(people, **{name: blank[name] for name, gone in unknown.items() if gone})


def test_nothing_is_claimed_beyond_what_is_known(films, gaussian):
    made = imaging.generated_scores(brightness, films, generator=gaussian)

    def said(**unknown):
        found = imaging.audit_scores(made, knowing(films.parents, **unknown))
        return " ".join(found.sentences()), " ".join(found.test.assumptions), " ".join(found.notes)

    words, assumed, notes = said(age=True, findings=True)
    assert "depend on the group beyond sex and scanner; the group moves" in words
    assert "nothing but sex and scanner makes images of the groups differ" in assumed
    assert "not known for anyone: age and findings; scores that follow what is not" in notes
    assert "from these images: by lines and sex by scanner" in assumed
    assert "as far as" not in words
    assert "by lines, curves of age and age by everything else" in said(sex=True)[1]
    words, assumed, notes = said(age=True, sex=True, scanner=True, findings=True)
    assert "depend on the group; the group moves" in words
    assert "neither age, sex, scanner nor findings are known here" in assumed
    assert "nothing is known about the people but their group: scores that follow age" in notes
    assert "beyond" not in f"{words} {assumed}"
    assert "known" not in said()[2]


def test_how_many_are_not_known_is_said(films, gaussian):
    people = films.parents
    found = people.findings.clone()
    found[:20, 1], found[:, 4] = -1, -1
    partly = replace(people, findings=found, sex=torch.where(people.age > 0.6, -1, people.sex))
    made = imaging.generated_scores(brightness, films, generator=gaussian)
    audit = imaging.audit_scores(made, partly)
    count = int((people.age > 0.6).sum())
    assert f"not known for some of 240 people: sex of {count}, edema of 20; those of whom" in str(
        audit
    )
    assert "not known for anyone: effusion" in str(audit)
    assert "beyond age, sex, scanner, cardiomegaly, edema, consolidation and atelectasis" in str(
        audit
    )


def test_outputs_have_names_only_where_somebody_says_so(films, gaussian):
    network = imaging.small_network().eval()
    five = {"five": corners}
    assert imaging.audit(five, films, generator=gaussian).findings[0] == "output 1"
    assert imaging.audit(network, films, generator=gaussian).findings == FINDINGS
    order = FINDINGS[::-1]
    found = imaging.audit(five, films, generator=gaussian, findings=order)
    straight = imaging.audit(five, films, generator=gaussian, findings=FINDINGS)
    asked = dict(zip(order, found.table()["opportunity_n"], strict=True))
    assert list(asked.values()) != list(straight.table()["opportunity_n"])
    assert [asked[name] for name in FINDINGS] == films.parents.findings.sum(0).tolist()
    some = imaging.audit(five, films, generator=gaussian, findings=[*order[:4], "hernia"])
    assert some.table()["opportunity_n"][4] == 0
    assert "nothing says who has hernia: equal opportunity was not asked for it" in str(some)
    said = imaging.audit(five, films, generator=gaussian, findings=[*"abcd", "Pleural Effusion"])
    assert said.findings[4] == "effusion"
    with pytest.raises(ImageError, match="two outputs are called effusion"):
        imaging.audit(five, films, generator=gaussian, findings=[*said.findings[1:], "Effusion"])
    with pytest.raises(
        ImageError, match="five does not say what its outputs are; those of net are"
    ):
        imaging.audit({"net": network, **five}, films, generator=gaussian)
    with pytest.raises(
        ImageError, match=r"the outputs of net are cardiomegaly, .*, not effusion, "
    ):
        imaging.audit({"net": network, **five}, films, generator=gaussian, findings=order)
    both = imaging.audit({"net": network, **five}, films, generator=gaussian, findings=FINDINGS)
    assert both.findings == FINDINGS


def test_decisions_of_zero_and_one_change_with_the_group(films):
    bar = float(brightness(films.images()).quantile(0.3))
    scores, decisions = (
        imaging.audit(one, films, generator=Knowing(films), threshold=at)
        for one, at in ((brightness, bar), (lambda x: (brightness(x) > bar).float(), None))
    )
    assert decisions.agreement.threshold.item() == 0.5
    assert decisions.agreement.value.item() == scores.agreement.value.item() < 0.9


def test_the_bar_is_the_median_unless_ties_make_it_uneven():
    rng = np.random.default_rng(0)
    assert halving(np.array([4.0, 1.0, 2.0])) == 2.0
    for said in (rng.normal(size=101), rng.normal(size=100)):
        assert halving(said) == np.median(said)
    said = np.column_stack([[0, 0, 0, 1], [0, 1, 1, 1], [1, 2, 2, 3], [5, 5, 5, 5]]).astype(float)
    assert halving(said).tolist() == [0.0, 0.5, 2.0, 5.0]


def test_each_classifier_is_asked_about_images_of_its_own(films, gaussian):
    def spoiling(images):
        return images.mul_(0).mean((1, 2, 3)) + 1

    alone = imaging.audit({"b": brightness}, films, generator=gaussian)
    both = imaging.audit({"a": spoiling, "b": brightness}, films, generator=gaussian)
    assert both.statistic[1] == pytest.approx(alone.statistic[0])
    assert both.quality == alone.quality


def test_a_network_in_training_is_refused(films, gaussian):
    with pytest.raises(
        PredictorError, match=r"net is a network in training mode.*call its eval\(\)"
    ):
        imaging.audit({"net": imaging.small_network().train()}, films, generator=gaussian)


def test_silence_of_the_generator_is_no_bound(films, gaussian):
    def partly(images):
        return torch.stack([images.mean((1, 2, 3)), torch.ones(len(images))], 1)

    found = imaging.audit({"partly": partly}, films, generator=gaussian, findings=["bright", "one"])
    assert found.silent.tolist() == [[False, True]]
    rows = found.table().to_records()
    assert rows[1]["upper"] is rows[1]["effect"] is None
    assert rows[0]["upper"] > 0
    assert "depend on the group" in found.sentences()[0]
    assert found.sentences()[0].count("so that nothing can be said for one (95%") == 1
    assert "unknown" in str(found.table())


# --- refused before the work ----------------------------------------------------------------------


class Never:
    """A generator that nobody gets to ask."""

    def counterfactual(self, images, parents, *, group):
        raise AssertionError("asked")


@pytest.mark.parametrize(
    ("labels", "said"),
    [
        (["a"] * 240, "labels are list, no numbers"),
        (np.zeros((239, 5)), r"shape \(239, 5\); expected a row for each of 240 images"),
        (np.full(240, 2), "labels hold 2; expected 0, 1, or -1"),
    ],
)
def test_labels_are_looked_at_before_anything_is_made(films, labels, said):
    with pytest.raises(LabelError, match=said):
        imaging.audit(brightness, films, generator=Never(), labels=labels)


def test_names_are_counted_after_the_first_batch(films, gaussian):
    asked = []

    def counted(images):
        asked.append(len(images))
        return corners(images)

    with pytest.raises(ImageError, match=r"2 findings are named \(a, b\); classifiers return 5"):
        imaging.audit(counted, films, generator=gaussian, findings=["a", "b"], batch=10)
    assert set(asked) == {10}
    assert len(asked) == 4  # the images, and those under three groups


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda images: images.numpy(), "images are ndarray; expected a torch tensor"),
        (list, "images are list; expected a torch tensor"),
        (lambda images: images[:0], "there are no images"),
    ],
)
def test_what_are_no_images_is_said(films, change, said):
    with pytest.raises(ImageError, match=said):
        imaging.audit(brightness, change(films.images()), films.parents, generator=Never())


# --- whose scores they are ------------------------------------------------------------------------


def test_kept_scores_of_other_people_or_images_are_refused(films, gaussian, tmp_path):
    asked = {"generator": gaussian, "folder": tmp_path, "batch": 100}
    first = imaging.audit(brightness, films.images(), films.parents, **asked)
    again = imaging.audit(brightness, films.images(), films.parents, **asked)
    assert again.statistic == first.statistic
    order = torch.randperm(240, generator=torch.Generator().manual_seed(0))
    for people in (
        replace(films.parents, group=films.parents.group[order]),
        replace(films.parents, age=films.parents.age[order]),
    ):
        with pytest.raises(CheckpointError, match="people is"):
            imaging.audit(brightness, films.images(), people, **asked)
    images = films.images()
    images[150:] = images[150:].flip(0)
    with pytest.raises(
        CheckpointError, match="holds scores of other images than those of rows 100"
    ):
        imaging.audit(brightness, images, films.parents, **asked)


def test_scores_of_other_people_are_refused(films, gaussian):
    made = imaging.generated_scores(brightness, films, generator=gaussian)
    shuffled = films.parents.take(torch.arange(240).flip(0))
    with pytest.raises(
        ParentsError, match=r"people of other groups than these parents, \d+ of 240"
    ):
        imaging.audit_scores(made, shuffled)
    group = films.parents.group.clone()
    group[group == 0] = -1
    with pytest.raises(ParentsError, match="the group of some people is not known"):
        imaging.audit_scores(made, replace(films.parents, group=group))


# --- any batch, and going on --------------------------------------------------------------------


def test_the_answer_is_the_same_for_any_batch(films, gaussian):
    one, other = (
        imaging.audit(corners, films, generator=gaussian, batch=size) for size in (240, 37)
    )
    assert one.log_p_value == pytest.approx(other.log_p_value, rel=1e-4)
    assert one.generated.original == pytest.approx(other.generated.original, abs=1e-6)
    assert one.generated.reversibility == pytest.approx(other.generated.reversibility, abs=1e-7)


def test_all_groups_are_asked_at_once_where_the_generator_can(films, gaussian):
    asked = []

    class AtOnce:
        def counterfactuals(self, images, parents, *, groups):
            asked.append(list(groups))
            return [gaussian.counterfactual(images, parents, group=group) for group in groups]

        counterfactual = staticmethod(gaussian.counterfactual)

    one = imaging.generated_scores(brightness, films, generator=AtOnce(), batch=120, withheld=True)
    other = imaging.generated_scores(brightness, films, generator=gaussian, withheld=True)
    assert asked == [[0, 1, 2, -1]] * 2
    assert one.counterfactual == pytest.approx(other.counterfactual, abs=1e-6)
    assert one.withheld == pytest.approx(other.withheld, abs=1e-6)


def test_an_audit_that_was_stopped_goes_on_and_ends_with_the_same_bits(films, gaussian, tmp_path):
    calls = []

    def tired(images):
        calls.append(len(images))
        if len(calls) == 7:
            raise KeyboardInterrupt
        return brightness(images)

    settings = {"generator": gaussian, "batch": 64}
    with pytest.raises(KeyboardInterrupt):
        imaging.audit(tired, films, folder=tmp_path, **settings)
    kept = sorted(path.name for path in (tmp_path / "generated").iterdir())
    assert kept == ["scores-0000000.pt"]
    resumed = imaging.audit(tired, films, folder=tmp_path, **settings)
    whole = imaging.audit(brightness, films, **settings)
    assert len(calls) == 7 + 1 + 3 * 4  # the first batch is asked once more, to be sure
    for name in ("original", "counterfactual", "composition", "reversibility"):
        assert np.array_equal(getattr(resumed.generated, name), getattr(whole.generated, name))
    assert np.array_equal(resumed.log_p_value, whole.log_p_value)


def test_kept_scores_of_something_else_are_refused(films, gaussian, tmp_path):
    told = {"generator": gaussian, "folder": tmp_path}
    imaging.generated_scores(brightness, films, stamp="one", **told)
    with pytest.raises(CheckpointError, match="other images or other classifiers"):
        imaging.generated_scores(lambda x: 1 - brightness(x), films, stamp="one", **told)
    with pytest.raises(CheckpointError, match="stamp"):
        imaging.generated_scores(brightness, films, stamp="two", **told)
    with pytest.raises(CheckpointError, match="batch"):
        imaging.generated_scores(brightness, films, stamp="one", batch=10, **told)


# --- what is refused ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reader", "message"),
    [
        (lambda x: brightness(x)[1:], r"classifier returned the shape \(63,\) for 64 images"),
        (lambda x: x, r"returned the shape \(64, 1, 16, 16\)"),
        (lambda x: brightness(x) / 0 * 0, "not a number for image 0"),
        (lambda x: ["high"] * len(x), r"classifier returned list, no numbers \(.*\); expected a"),
        (lambda x: None, "classifier returned NoneType, no numbers"),
        ({}, "there is no classifier"),
        ({"a": 3}, "a is int; a classifier is called"),
        ({"a": brightness, "b": corners}, r"different numbers of findings \(a 1, b 5\)"),
    ],
    ids=["rows", "shape", "nan", "text", "nothing", "none", "number", "widths"],
)
def test_a_classifier_that_cannot_be_asked_is_refused_by_name(films, reader, message):
    with pytest.raises(PredictorError, match=message):
        imaging.audit(reader, films, generator=Same())


def test_an_exception_of_a_classifier_or_generator_is_not_swallowed(films):
    def full(images):
        raise torch.cuda.OutOfMemoryError("out of memory")

    with pytest.raises(torch.cuda.OutOfMemoryError):
        imaging.audit(full, films, generator=Same())


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda x: x[:, :, :8], r"made images of the shape \(64, 1, 8, 16\) under group 0"),
        (lambda x: x * float("nan"), "under group 0 that hold values which are not numbers"),
        (
            lambda x: x - 1,
            r"the generator \(Broken\) made images under group 0 with values from -1 to -0\S*; "
            "expected about 0 to 1: train it further",
        ),
        (lambda x: x + 0.9, r"under group 0 with values from \S+ to 1\.\d+; .* train it further"),
    ],
    ids=["shape", "nan", "low", "high"],
)
def test_a_generator_that_makes_no_images_is_refused(films, change, message):
    class Broken:
        def counterfactual(self, images, parents, *, group):
            return change(images)

    with pytest.raises(ImageError, match=message):
        imaging.audit(brightness, films, generator=Broken())


def test_images_and_people_must_fit(films):
    images, parents = films.images(), films.parents
    with pytest.raises(ParentsError, match="nothing is known about the people"):
        imaging.audit(brightness, images, generator=Same())
    with pytest.raises(ParentsError, match="240 images came with parents of 5"):
        imaging.audit(brightness, images, parents.take(slice(5)), generator=Same())
    with pytest.raises(ParentsError, match="the group of 240 of 240 people is not known"):
        imaging.audit(brightness, images, parents.told(group=-1), generator=Same())
    with pytest.raises(ImageError, match="hold values from 0 to 2"):
        imaging.audit(brightness, (images > 0.5) * 255.0, parents, generator=Same())
    with pytest.raises(ImageError, match=r"have the shape \(64, 3, 16, 16\)"):
        imaging.audit(brightness, images.expand(-1, 3, -1, -1), parents, generator=Same())
    with pytest.raises(ParentsError, match="someone is of group 2, but there are names for 0 to 1"):
        imaging.audit(brightness, films, generator=Same(), groups=["a", "b"])
    with pytest.raises(ImageError, match=r"2 findings are named \(a, b\); classifiers return 1"):
        imaging.audit(brightness, films, generator=Same(), findings=["a", "b"])
    with pytest.raises(ImageError, match="batch=0"):
        imaging.audit(brightness, films, generator=Same(), batch=0)


def test_groups_are_called_by_their_names(films):
    class High:
        def counterfactual(self, images, parents, *, group):
            return images + 2.0 * (group == 1)

    groups = ["White", "Black", "Asian"]
    with pytest.raises(ImageError, match="made images under group Black with values from 2"):
        imaging.audit(brightness, films, generator=High(), groups=groups)
    black = torch.where(films.parents.group == 1)[0]
    few = films.take(torch.cat([torch.where(films.parents.group != 1)[0], black[:3]]))
    with pytest.raises(TooFewRowsError, match="group Black has 3 images"):
        imaging.audit(brightness, few, generator=Same(), groups=groups)
    with pytest.raises(InvarianceError, match="everyone is of group Black"):
        imaging.audit(brightness, films.take(black), generator=Same(), groups=groups)
    # beyond a group and back again, images are looked at too

    class Drifting:
        def counterfactual(self, images, parents, *, group):
            return images + (2.0 if torch.is_tensor(group) else 0.0)

    with pytest.raises(ImageError, match="under another group and the own one again"):
        imaging.audit(brightness, films, generator=Drifting())


def test_a_quality_of_images_that_are_none_is_not_measured(films):
    class High:
        def counterfactual(self, images, parents, *, group):
            return images + 2

    judges = Judges(group=lambda x: x.flatten(1)[:, :3], others=lambda x: x.flatten(1)[:, :8])
    told = (films.parents.group + 1) % 3
    with pytest.raises(
        ImageError, match=r"\(High\) made images under the groups asked for with values"
    ):
        quality(High(), films.images(), films.parents, judges=judges, group=told)


def test_several_films_of_a_person_are_refused(films, tmp_path):
    save_radiographs(STRONG, tmp_path, people=60, seed=0)
    one = PlainFolder(tmp_path, size=16)
    twice = one.take(torch.arange(60).repeat(2))
    with pytest.raises(
        InvarianceError, match=r"120 images are of 60 people; .* films.one_each\(\)"
    ):
        imaging.audit(brightness, twice, generator=Same())
    assert len(imaging.audit(brightness, twice.one_each(), generator=Same()).generated) == 60


def test_groups_need_enough_people(films):
    few = films.take(torch.cat([torch.where(films.parents.group == 0)[0], torch.tensor([0, 1])]))
    with pytest.raises(TooFewRowsError, match=r"group \d has 1 images; at least 10"):
        imaging.audit(brightness, few, generator=Same())
    one = films.take(torch.where(films.parents.group == 0)[0])
    with pytest.raises(InvarianceError, match="everyone is of group 0"):
        imaging.audit(brightness, one, generator=Same())


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"method": "guess"}, InvarianceError, "method must be one of projected"),
        ({"level": 95}, ValueError, "level must lie between 0 and 1"),
        ({"draws": 5}, InvarianceError, "draws must be 19 or more"),
        ({"tolerance": -1.0}, InvarianceError, "tolerance must be 0 or more"),
        ({"placebo": Same()}, InvarianceError, "a placebo belongs to method='individual'"),
        ({"labels": torch.zeros(3, 1)}, LabelError, r"labels have the shape \(3, 1\)"),
        ({"labels": torch.full((240, 1), 7)}, LabelError, "labels hold .*7.*; expected 0, 1"),
    ],
    ids=["method", "level", "draws", "tolerance", "placebo", "rows", "values"],
)
def test_settings_that_mean_nothing_are_refused(films, settings, error, message):
    with pytest.raises(error, match=message):
        imaging.audit(brightness, films, generator=Same(), **settings)


# --- the door -----------------------------------------------------------------------------------


def test_every_name_is_there_and_the_function_is_not_a_module():
    import causalfairness.imaging.auditing.front_door  # noqa: F401

    for name in imaging.__all__:
        assert getattr(imaging, name) is not None, name
    assert callable(imaging.audit)
    assert sorted(imaging.__all__) == dir(imaging)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        imaging.nothing  # noqa: B018
