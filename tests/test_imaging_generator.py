"""Do generators learn to change the group and nothing else? Tiny ones, on 32 x 32 images."""

import math
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
from torch import nn

from causalfairness.errors import CheckpointError, ImageError, ParentsError, TrainingError
from causalfairness.imaging.analytic import fit_gaussian
from causalfairness.imaging.configuration import Pace, configuration
from causalfairness.imaging.counterfactuals import withheld_group
from causalfairness.imaging.disentangling import DisentanglingMap, disentangle
from causalfairness.imaging.generator import (
    Walk,
    pack_generator,
    unpack_generator,
    untrained,
)
from causalfairness.imaging.latent_networks import LeanGroupNorm, standardize, with_lean_norms
from causalfairness.imaging.parents import UNKNOWN, Parents, codes_of
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.streams import (
    autoencoder_batches,
    denoiser_batches,
    simulated,
    stored,
)
from causalfairness.imaging.training import train
from causalfairness.imaging.vae import ConditionalVAE, VAEGenerator, VAEPlan, vae_batches

TINY = configuration(32)
WALK = Walk(steps=6, refinement=2)


@pytest.fixture(scope="module")
def films():
    return Simulator(size=32).draw(12, seed=9)


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A generator after some seconds on a CPU, and how its losses fell."""
    folder = tmp_path_factory.mktemp("runs")
    people = Simulator(size=32).draw(600, seed=5)
    source = stored(people.images(), people.parents, seed=0)
    generator = untrained(TINY, seed=0)
    first = train(
        generator.autoencoder,
        autoencoder_batches(source, TINY, seed=0),
        path=folder / "autoencoder.pt",
        plan=TINY.autoencoder,
        pace=TINY.autoencoder.pace,
        steps=100,
    )
    standardize(generator.autoencoder, [people.images(slice(256))])
    second = train(
        generator.denoiser,
        denoiser_batches(source, generator.encode, TINY, seed=0, pool=1_024),
        path=folder / "denoiser.pt",
        plan=TINY.denoiser,
        pace=TINY.denoiser.pace,
        steps=120,
    )
    return replace(generator, walk=WALK), first.losses, second.losses


def moved(generator, films, group, **given):
    return generator.counterfactual(films.images(), films.parents, group=group, **given)


def apart(one, other):
    return float((one - other).abs().mean())


# --- what training reaches ----------------------------------------------------------------------


def test_both_losses_fall(trained):
    _, autoencoder, denoiser = trained
    assert autoencoder[-1][1] < 0.6 * autoencoder[0][1]
    assert denoiser[-1][1] < 0.6 * denoiser[0][1]


def test_composition_is_better_than_the_untrained_nets(trained, films):
    own = films.parents.group
    beginner = replace(untrained(TINY, seed=0), walk=WALK)
    before, after = (
        apart(moved(generator, films, own, form="decode"), films.images())
        for generator in (beginner, trained[0])
    )
    assert after < 0.5 * before


def test_counterfactuals_are_nearer_to_the_truth_than_doing_nothing(trained, films):
    told = (films.parents.group + 1) % 3
    truth = films.told(group=told).images()
    made = moved(trained[0], films, told)
    assert apart(made, truth) < 0.9 * apart(films.images(), truth)


def test_plain_decoding_changes_what_nobody_told_it_to(trained, films):
    """The decoder's blur seems an effect of the group; the residual form leaves it out."""
    own, told = films.parents.group, (films.parents.group + 1) % 3
    same = {form: moved(trained[0], films, own, form=form) for form in ("decode", "residual")}
    still = {form: apart(made, films.images()) for form, made in same.items()}
    assert still["decode"] > 10 * still["residual"]
    truth = films.told(group=told).images()
    errors = {form: apart(moved(trained[0], films, told, form=form), truth) for form in same}
    assert errors["decode"] > errors["residual"]


# --- forms, steps, guidance ---------------------------------------------------------------------


def test_refinement_makes_the_null_intervention_null(trained, films):
    own = films.parents.group
    plain, refined = (
        apart(moved(trained[0], films, own, refinement=rounds), films.images()) for rounds in (0, 3)
    )
    assert refined < 1e-3
    assert refined < 0.1 * plain


def test_the_difference_form_leaves_an_image_alone_when_nothing_changes(trained, films):
    own = films.parents.group
    same = moved(trained[0], films, own, form="difference", refinement=0)
    assert float((same - films.images()).abs().max()) < 1e-5


def test_guidance_goes_further(trained, films):
    told = (films.parents.group + 1) % 3
    plain, harder = (moved(trained[0], films, told, guidance=g) for g in (1.0, 1.5))
    assert apart(plain, harder) > 1e-4


@pytest.mark.parametrize(
    ("form", "groups"),
    [("residual", (0, 2, UNKNOWN)), ("difference", (0, 1, 2)), ("decode", (1,))],
)
def test_all_groups_at_once_are_the_same_as_one_by_one(trained, films, form, groups):
    walking = replace(trained[0], walk=replace(WALK, form=form))
    together = walking.counterfactuals(films.images(), films.parents, groups=groups)
    for group, made in zip(groups, together, strict=True):
        assert torch.allclose(made, moved(walking, films, group), atol=1e-5)


def test_what_is_sampled_already_is_not_sampled_again(trained, films, monkeypatch):
    calls = []
    ask = type(trained[0])._ask

    def counted(self, *given, **told):
        calls.append(1)
        return ask(self, *given, **told)

    monkeypatch.setattr(type(trained[0]), "_ask", counted)
    walking = replace(trained[0], walk=replace(WALK, form="difference"))
    walking.counterfactuals(films.images(), films.parents, groups=[0, 1, 2])
    assert len(calls) == WALK.steps * (1 + WALK.refinement + 3)
    calls.clear()
    walking.counterfactuals(films.images(), films.parents, groups=[1])  # not everyone's own
    assert len(calls) == WALK.steps * (1 + WALK.refinement + 1 + 1)


@pytest.mark.parametrize("form", ["residual", "difference", "decode"])
def test_only_the_walk_is_rounded(films, monkeypatch, form):
    """A GPU rounds what runs inside `autocast`; here it is only seen who does."""
    generator, rounded, seen = untrained(configuration(32), seed=0), [], set()

    @contextmanager
    def autocast(*given, **more):
        rounded.append(True)
        yield
        rounded.pop()

    def noted(name):
        asked = getattr(type(generator.autoencoder), name)

        def ask(*given):
            seen.add((name, bool(rounded)))
            return asked(generator.autoencoder, *given)

        return ask

    monkeypatch.setattr("causalfairness.imaging.generator.torch.autocast", autocast)
    for name in ("encode", "decode"):
        monkeypatch.setattr(generator.autoencoder, name, noted(name))
    generator.denoiser.register_forward_hook(lambda *_: seen.add(("denoise", bool(rounded))))
    moved(generator, films.take(torch.arange(2)), 1, form=form, steps=2)
    assert seen == {("encode", False), ("denoise", True), ("decode", False)}


def test_networks_have_lean_norms_alone():
    found = untrained(TINY, seed=0)
    for network in (found.autoencoder, found.denoiser):
        kinds = {type(layer) for layer in network.modules() if isinstance(layer, nn.GroupNorm)}
        assert kinds == {LeanGroupNorm}


@torch.no_grad()
def test_lean_norms_answer_as_others_do():
    values = torch.randn(6, 8, 5, 5, generator=torch.Generator().manual_seed(0))
    plain = nn.GroupNorm(4, 8)
    torch.nn.init.normal_(plain.weight, generator=torch.Generator().manual_seed(1))
    network = nn.Sequential(nn.Sequential(plain), nn.SiLU())
    expected = network(values)
    lean = with_lean_norms(network)
    assert isinstance(lean[0][0], LeanGroupNorm)
    assert (lean(values) == expected).all()
    with torch.autocast("cpu", torch.bfloat16):
        short = lean[0](values.bfloat16())
    assert short.dtype == torch.bfloat16
    assert apart(short.float(), plain(values)) < 0.01


def test_the_batch_changes_nothing(trained, films):
    pieces = replace(trained[0], walk=replace(WALK, batch=5))
    assert torch.allclose(moved(pieces, films, 1), moved(trained[0], films, 1), atol=1e-4)


def test_a_group_nobody_names_lies_between_the_groups(trained, films):
    unnamed = withheld_group(trained[0], films.images(), films.parents)
    groups = torch.stack([moved(trained[0], films, group).mean() for group in range(3)])
    assert groups.min() < unnamed.mean() < groups.max()


def test_told_the_group_alone_the_other_parents_do_not_matter(films):
    blind = replace(untrained(TINY.changed(told=("group",)), seed=0), walk=Walk(steps=2))
    knowing = replace(untrained(TINY, seed=0), walk=Walk(steps=2))
    for generator in (blind, knowing):
        stir(generator.denoiser)
    older = replace(films.parents, age=films.parents.age + 0.2)
    differences = [
        apart(
            generator.counterfactual(films.images(), films.parents, group=1),
            generator.counterfactual(films.images(), older, group=1),
        )
        for generator in (blind, knowing)
    ]
    assert differences[0] == 0.0
    assert differences[1] > 0.0


def stir(network):
    """Many layers of a new network are zero, and it says nothing; with this it says something."""
    drawn = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for weight in network.parameters():
            weight.add_(0.05 * torch.randn(weight.shape, generator=drawn))


# --- bad input ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (torch.zeros(12, 1, 64, 64), r"shape \(12, 1, 64, 64\); expected \(n, 1, 32, 32\)"),
        (torch.zeros(12, 32, 32), r"shape \(12, 32, 32\); expected"),
        (torch.full((12, 1, 32, 32), 128.0), "from 128 to 128; expected about 0 to 1"),
        (torch.full((12, 1, 32, 32), float("nan")), "from nan to nan; expected about 0 to 1"),
        (torch.zeros(12, 1, 32, 32, dtype=torch.uint8), "images are torch.uint8; expected float"),
        (torch.zeros(0, 1, 32, 32), "there are no images"),
    ],
    ids=["size", "dimensions", "range", "nan", "integers", "none"],
)
def test_images_of_the_wrong_shape_or_range_are_refused(films, images, message):
    with pytest.raises(ImageError, match=message):
        untrained(TINY, seed=0).counterfactual(images, films.parents, group=1)


def test_parents_that_do_not_fit_are_refused(films):
    generator, images = untrained(TINY, seed=0), films.images()
    with pytest.raises(ParentsError, match="12 images came with parents of 3 people"):
        generator.counterfactual(images, films.parents.take(slice(3)), group=1)
    with pytest.raises(ParentsError, match="group is 7 for image 0; expected -1"):
        generator.counterfactual(images, films.parents, group=7)
    strange = replace(films.parents, sex=films.parents.sex + 1)
    with pytest.raises(ParentsError, match="sex is 2 for image"):
        generator.counterfactual(images, strange, group=1)


def test_unknown_parents_have_tokens_of_their_own(films):
    count = len(films)
    nothing = torch.full((count,), UNKNOWN)
    unknown = Parents(
        nothing,
        torch.full((count,), float("nan")),
        nothing,
        nothing,
        nothing[:, None].expand(-1, 5),
    )
    assert codes_of(unknown).unique().tolist() == [-1]
    made = untrained(TINY, seed=0).counterfactual(films.images(), unknown, group=1, steps=2)
    assert bool(made.isfinite().all())


def test_a_packed_generator_is_refused_under_another_configuration(tmp_path):
    pack_generator(untrained(TINY, seed=0), tmp_path)
    assert unpack_generator(TINY, tmp_path).configuration == TINY
    with pytest.raises(CheckpointError, match="another configuration: denoiser is"):
        unpack_generator(TINY.changed(told=("group",)), tmp_path)


# --- other generators ---------------------------------------------------------------------------


def test_a_variational_autoencoder_learns_to_change_the_group(tmp_path, films):
    plan = VAEPlan(
        32, beta=1.0, latent=16, channels=(8, 16, 32), pace=Pace(32, 80, 4e-3, 20, average=0.98)
    )
    source = simulated(Simulator(size=32), seed=3)
    run = train(
        ConditionalVAE(plan),
        vae_batches(source, plan, seed=0),
        path=tmp_path / "vae.pt",
        plan=plan,
        pace=plan.pace,
    )
    assert run.losses[-1][1] < 0.6 * run.losses[0][1]
    generator = VAEGenerator(run.network)
    assert float((moved(generator, films, films.parents.group) - films.images()).abs().max()) < 1e-5
    told = (films.parents.group + 1) % 3
    truth = films.told(group=told).images()
    assert apart(moved(generator, films, told), truth) < 0.9 * apart(films.images(), truth)


def test_beta_is_what_the_latent_costs():
    images, codes = torch.rand(4, 1, 32, 32), torch.zeros(4, 9)
    losses = []
    for beta in (0.0, 1.0, 10.0):
        torch.manual_seed(0)
        network = ConditionalVAE(VAEPlan(32, beta=beta))
        losses.append(float(network.loss(images, codes, torch.zeros(4, 64)).detach()))
    assert losses[2] - losses[0] == pytest.approx(10 * (losses[1] - losses[0]), rel=1e-3)
    assert losses[1] > losses[0]


def test_the_gaussian_generator_needs_enough_of_every_group(films):
    with pytest.raises(TrainingError, match=r"group 0 has \d+ images; expected at least"):
        fit_gaussian(films.images(), films.parents, components=3)


def test_the_gaussian_generator_refuses_a_group_it_has_not_seen():
    people = Simulator(size=32).draw(400, seed=2)
    two = people.take(people.parents.group < 2)
    generator = fit_gaussian(two.images(), two.parents, components=3)
    with pytest.raises(ParentsError, match=r"group 2 was not among the images fitted; .* \[0, 1\]"):
        generator.counterfactual(two.images(), two.parents, group=2)


def test_the_gaussian_generators_noise_is_standard_normal():
    people = Simulator(size=32).draw(1_500, seed=2)
    generator = fit_gaussian(people.images(), people.parents, components=5)
    noise = generator.noise(people.images(), people.parents)
    assert torch.allclose(noise.mean(0), torch.zeros(5).double(), atol=1e-6)
    assert torch.allclose(torch.cov(noise.T), torch.eye(5).double(), atol=0.01)


# --- the paper's map ----------------------------------------------------------------------------


def telling(step):
    """Latents that say the group outright, in one of two channels."""
    group = torch.randint(2, (64,), generator=torch.Generator().manual_seed(step))
    noise = torch.randn(64, 2, 8, 8, generator=torch.Generator().manual_seed(step + 10_000))
    noise[:, 0] += 2.0 * group[:, None, None]
    return noise, group


def test_the_critic_finds_what_there_is_to_know():
    found = disentangle(telling, groups=2, length=0.01, steps=35, seed=0)
    assert 0.5 * math.log(2) < found.before < 1.1 * math.log(2)  # a lower bound of log 2
    silent = disentangle(
        lambda step: (telling(step)[0], telling(step + 5_000)[1]),
        groups=2,
        length=0.01,
        steps=35,
        seed=0,
    )
    assert silent.before < 0.1


def test_the_map_moves_a_latent_by_its_length_and_no_more():
    latents = torch.randn(3, 4, 8, 8, generator=torch.Generator().manual_seed(0))
    for length in (0.001, 0.1):
        moves = DisentanglingMap(4, length=length)(latents).detach() - latents
        share = moves.flatten(1).norm(dim=1) / latents.flatten(1).norm(dim=1)
        assert share.tolist() == pytest.approx([length] * 3, rel=1e-3)
