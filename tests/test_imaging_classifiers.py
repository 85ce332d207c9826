"""Networks that read findings: their shapes, their training, and their dependence on the group."""

import numpy as np
import pytest
import torch

from causalfairness.errors import CheckpointError, ImageError, LabelError, TrainingError
from causalfairness.imaging.classifiers import (
    Leaning,
    area_under_curve,
    dense_network,
    fit_classifier,
    inception_network,
    lean_targets,
    one_column_each,
    scores,
    small_network,
    vgg_network,
)
from causalfairness.imaging.parents import UNKNOWN
from causalfairness.imaging.simulator import Simulator

NETWORKS = {
    "dense 121": lambda **how: dense_network(121, **how),
    "dense 169": lambda **how: dense_network(169, **how),
    "dense 201": lambda **how: dense_network(201, **how),
    "vgg 13": lambda **how: vgg_network(13, **how),
    "vgg 19, normalized": lambda **how: vgg_network(19, normalized=True, **how),
    "inception": inception_network,
    "small": small_network,
}
MILLIONS = {"dense 121": 6.9, "dense 169": 12.5, "dense 201": 18.1, "vgg 13": 9.4}
FILMS = Simulator(size=32).draw(1600, seed=1)
UNSEEN = Simulator(size=32).draw(1000, seed=2)


@pytest.fixture(scope="module")
def trained():
    """A reader of findings and a reader of groups, after a few seconds of training."""
    reader, of_groups = small_network(), small_network(outputs=3, seed=1)
    films = FILMS.images()
    how = {"epochs": 7, "batch": 32, "rate": 4e-3}
    losses = fit_classifier(reader, films, FILMS.parents.findings, **how)
    fit_classifier(of_groups, films, one_column_each(FILMS.parents.group), **how)
    return reader, of_groups, losses


@pytest.mark.parametrize("name", NETWORKS)
def test_every_network_gives_probabilities_of_five_findings(name):
    network = NETWORKS[name](seed=1).eval()
    with torch.no_grad():
        said = network(FILMS.images(slice(2)))
    assert said.shape == (2, 5)
    assert ((said > 0) & (said < 1)).all()
    assert not torch.equal(said[0], said[1])
    if name in MILLIONS:
        size = sum(p.numel() for p in network.backbone.parameters()) / 1e6
        assert size == pytest.approx(MILLIONS[name], abs=0.06)  # as published, less the last layer


def test_weights_come_from_the_seed_and_leave_other_randomness_alone():
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, same, other = (small_network(seed=seed).state_dict() for seed in (1, 1, 2))
    assert torch.equal(torch.random.get_rng_state(), before)
    assert all(torch.equal(one[name], same[name]) for name in one)
    assert not torch.equal(one["backbone.0.weight"], other["backbone.0.weight"])


def test_weights_go_through_a_file(tmp_path):
    saved = small_network(seed=3).eval()
    torch.save(saved.state_dict(), tmp_path / "weights.pt")
    loaded = small_network(seed=4, weights=tmp_path / "weights.pt").eval()
    films = FILMS.images(slice(3))
    assert torch.equal(loaded(films), saved(films))


@pytest.mark.parametrize("name", ["vgg 13", "dense 121"])
def test_a_backbone_for_colors_reads_gray_the_same(name, tmp_path):
    """Weights as torchvision names them, for three channels that add up to one."""
    own = NETWORKS[name](seed=7).eval()
    state = {}
    for key, value in own.state_dict().items():
        told = key.replace("backbone.", "features.", 1).replace(".layers.", ".")
        first = value.ndim == 4 and value.shape[1] == 1 and key.startswith("backbone")
        state[told] = torch.cat([0.2 * value, 0.5 * value, 0.3 * value], 1) if first else value
    state["classifier.weight"] = torch.zeros(1000, 1024)
    torch.save({k: v for k, v in state.items() if "heads" not in k}, tmp_path / "color.pt")
    loaded = NETWORKS[name](seed=8, weights=tmp_path / "color.pt").eval()
    films = FILMS.images(slice(2))
    with torch.no_grad():
        torch.testing.assert_close(loaded.backbone(films), own.backbone(films))


def test_weights_of_another_network_are_refused(tmp_path):
    torch.save(small_network(width=8).state_dict(), tmp_path / "other.pt")
    with pytest.raises(
        CheckpointError, match=r"other\.pt holds weights of another network: backbo"
    ):
        small_network(weights=tmp_path / "other.pt")
    torch.save({"features.conv0.weight": torch.zeros(64, 3, 7, 7)}, tmp_path / "part.pt")
    with pytest.raises(CheckpointError, match="parts of the backbone are missing"):
        dense_network(weights=tmp_path / "part.pt")
    with pytest.raises(CheckpointError, match="There is no file of weights"):
        small_network(weights=tmp_path / "nowhere.pt")
    with pytest.raises(CheckpointError, match="no DenseNet of depth 122; there are 121, 169, 201"):
        dense_network(122)


def test_a_small_network_learns(trained):
    reader, of_groups, losses = trained
    assert losses[-1] < losses[0] - 0.3
    found = area_under_curve(scores(reader, UNSEEN), UNSEEN.parents.findings)
    assert found.mean() > 0.75
    assert (found > 0.65).all()
    assert (found < 0.93).all()  # Phi(1.8 / sqrt 2) = .90, and age and sex are on the film too
    right = scores(of_groups, UNSEEN).argmax(1) == UNSEEN.parents.group
    assert right.float().mean() > 0.55
    assert not reader.training


def test_training_is_repeatable_and_does_not_care_where_films_are_kept():
    few = FILMS.take(slice(70))
    state = torch.random.get_rng_state()
    losses = [
        fit_classifier(small_network(), films, few.parents.findings, epochs=2, seed=seed)
        for films, seed in ((few, 0), (few.images(), 0), (few, 1))
    ]
    assert losses[0] == losses[1] != losses[2]
    assert torch.equal(torch.random.get_rng_state(), state)


def test_an_unknown_finding_teaches_nothing():
    few = FILMS.take(slice(64))
    truth = few.parents.findings.clone()
    truth[:, 2] = UNKNOWN
    network, before = small_network(), small_network()
    fit_classifier(network, few, truth, epochs=2)
    heads = [
        (new[2].weight, old[2].weight) for new, old in zip(network.heads, before.heads, strict=True)
    ]
    assert [torch.equal(new, old) for new, old in heads] == [False, False, True, False, False]


def test_a_penalty_on_counterfactuals_makes_a_network_blind_to_the_group():
    few = FILMS.take(slice(600))
    leaning = lean_targets(few.parents.findings, few.parents.group, share=0.6)
    other = few.told(group=(few.parents.group + 1) % 3)
    moves = []
    for penalty in (0.0, 3.0):
        network = small_network()
        how = {"epochs": 4, "batch": 32, "rate": 4e-3}
        fit_classifier(
            network, few.images(), leaning, counterfactuals=other, penalty=penalty, **how
        )
        moves.append((scores(network, few) - scores(network, other)).abs().mean())
    assert moves[1] < 0.5 * moves[0]


def test_dependence_on_the_group_is_a_knob(trained):
    reader, of_groups, _ = trained
    films = UNSEEN.take(slice(300))
    worlds = [films.told(group=group).images() for group in range(3)]
    agreement = []
    for dependence in (0.0, 1.0, 2.0, 4.0):
        subject = Leaning(reader, of_groups, dependence=dependence).eval()
        here = scores(subject, films) > 0.5
        same = torch.stack([(scores(subject, world) > 0.5) == here for world in worlds])
        agreement.append(float(same.float().mean()))
    assert agreement == sorted(agreement, reverse=True)
    assert agreement[0] > 0.9
    assert 0.5 < agreement[-1] < 0.8
    one = Leaning(reader, of_groups, dependence=torch.tensor([0.0, 0.0, 3.0, 0.0, 0.0])).eval()
    moved = (scores(one, films) - scores(reader, films)).abs().amax(0) > 0
    assert moved.tolist() == [False, False, True, False, False]
    with pytest.raises(LabelError, match="towards=3, but the reader of groups knows 3"):
        Leaning(reader, of_groups, dependence=1.0, towards=3)


def test_labels_follow_the_group_as_often_as_asked():
    group = torch.arange(30_000) % 3
    leaning = lean_targets(torch.zeros(30_000, 5), group, share=0.3, towards=2, seed=1)
    share = leaning[group == 2].float().mean(0)
    assert (share - 0.3).abs().max() < 4 * (0.3 * 0.7 / 10_000) ** 0.5
    assert leaning[group != 2].sum() == 0
    with pytest.raises(LabelError, match=r"share=1\.2: expected a share between 0 and 1"):
        lean_targets(torch.zeros(2, 5), torch.zeros(2), share=1.2)


def test_area_under_the_curve_counts_pairs():
    rng = np.random.default_rng(0)
    score = torch.from_numpy(rng.integers(0, 6, (80, 2)) / 6)
    sick = torch.from_numpy(rng.integers(-1, 2, (80, 2)))
    for column, found in enumerate(area_under_curve(score, sick)):
        ill, well = (score[sick[:, column] == value, column] for value in (1, 0))
        pairs = (ill[:, None] > well).double() + 0.5 * (ill[:, None] == well).double()
        assert found == pytest.approx(float(pairs.mean()))
    assert area_under_curve(score, torch.ones(80, 2)).isnan().all()


def test_bad_input_is_named():
    network, films = small_network(), FILMS.images(slice(4))
    with pytest.raises(ImageError, match=r"shape \(4, 32, 32\); expected \(n, 1, height, width\)"):
        network(films[:, 0])
    with pytest.raises(LabelError, match=r"shape \(4, 3\); expected \(4, 5\)"):
        fit_classifier(network, films, torch.zeros(4, 3))
    with pytest.raises(LabelError, match="Targets hold 2; expected 0, 1, or -1"):
        fit_classifier(network, films, torch.full((4, 5), 2))
    with pytest.raises(TrainingError, match="1 image is too few"):
        fit_classifier(network, films[:1], torch.zeros(1, 5))
    with pytest.raises(TrainingError, match="3 counterfactuals came with 4 images"):
        fit_classifier(network, films, torch.zeros(4, 5), counterfactuals=films[:3])
    with pytest.raises(TrainingError, match="The loss of epoch 1 is nan"):
        fit_classifier(network, torch.full_like(films, np.nan), torch.zeros(4, 5), epochs=1)
