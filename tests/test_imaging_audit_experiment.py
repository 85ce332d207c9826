"""Does the experiment measure level, power and agreement of the audit, and go on if it stops?"""

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from benchmarks.imaging import evaluation, pools, power
from benchmarks.imaging import panel as panels
from benchmarks.imaging.__main__ import main
from benchmarks.imaging.evaluation import evaluate, generator_of
from benchmarks.imaging.measured import keep_measured
from benchmarks.imaging.panel import LEANINGS, agreement, trained_panel
from benchmarks.imaging.pools import Pool, PoolPlan, kept_pool, read_pool
from benchmarks.imaging.power import Auditees, Rates, audit_pool, auditees_of
from benchmarks.imaging.readers import School, trained_readers
from scipy.special import expit

from causalfairness.errors import CheckpointError, TooFewRowsError
from causalfairness.imaging.auditing.statistics import features_of, judged_between_people
from causalfairness.imaging.counterfactuals import DoNothing
from causalfairness.imaging.generator import Walk
from causalfairness.imaging.parents import codes_of
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.stages import Settings, train_vae

SKEWED = [[0.1], [0.2], [0.3], [0.35], [0.9]]  # scores whose mean is above one more than the median
MOVED = [[0.1], [0.2], [0.3], [0.2], [0.9]]


def pool(n=700, *, strength, mistake, seed=0):
    """What one reader sees: log odds of findings, moved by the group, and by a bad generator."""
    rng = np.random.default_rng(seed)
    parents = Simulator(size=16).draw(n, seed=seed).parents
    findings = parents.findings.double().numpy()
    push = np.array([0.0, 1.0, -1.0])[:, None, None]
    seen = np.broadcast_to(2 * push + 0 * rng.normal(size=(3, n, 1)), (3, n, 1))
    read = 2 * findings - 1 + rng.normal(size=findings.shape) + strength * push
    true = np.concatenate([seen, read], axis=2)
    own = parents.group.numpy()
    made = true + mistake * rng.normal(size=true.shape) * (own != np.arange(3)[:, None])[..., None]
    tensors = [torch.tensor(each) for each in (true[own, np.arange(n)], made, true)]
    return Pool(codes_of(parents), *tensors, torch.zeros(n), ("plain",))


def test_invariant_auditees_say_the_same_of_every_true_film_and_not_of_made_ones():
    brought = pool(strength=0.3, mistake=0.2)
    found = auditees_of(brought)
    steady = found.invariant
    assert int(steady.sum()) == 5
    assert len(found.names) == 5 * (len(LEANINGS) + 1)
    assert np.ptp(found.true[..., steady], axis=0).max() == 0
    assert found.said[:, steady] == pytest.approx(expit(brought.true[0][:, 1:].numpy()))
    assert np.ptp(found.made[..., steady], axis=0).max() > 0.01
    plain = np.array([leaning == "0" for _, leaning, _ in found.names])
    assert found.said[:, plain] == pytest.approx(expit(brought.original[:, 1:].numpy()))


def test_an_invariant_auditee_takes_over_the_mistakes_of_the_generator():
    brought = pool(strength=0.3, mistake=0.2)
    found = auditees_of(brought)
    true, made = (each[..., 1:].numpy() for each in (brought.true, brought.made))
    assert found.made[..., found.invariant] == pytest.approx(expit(true[0] + made - true))


def test_decisions_are_at_the_median_of_skewed_scores_and_every_group_counts():
    said, moved = np.array(SKEWED), np.array(MOVED)
    same = np.stack([said] * 3)
    found = Auditees((("reader", "0", "edema"),), said, made=same, true=same)
    for group in range(3):
        worlds = np.stack([moved if at == group else said for at in range(3)])
        assert found.agreement(worlds) == pytest.approx([14 / 15])


def test_agreement_falls_with_the_leaning_and_a_right_generator_knows_it():
    found = auditees_of(pool(strength=0.0, mistake=0.0))
    assert found.agreement(found.made) == pytest.approx(found.agreement(found.true))
    by_leaning = found.agreement(found.true)[:50].reshape(10, 5).mean(axis=1)
    assert by_leaning[0] == 1
    assert (np.diff(by_leaning) < 0).all()


def test_level_and_power_are_measured_once(tmp_path):
    path = tmp_path / "audit.json"
    brought = pool(strength=0.0, mistake=0.3)
    found = audit_pool(brought, films=300, audits=4, path=path, name="one")
    assert found["type_one"]["auditees"] == 5
    assert found["type_one"]["mean"] <= 0.15  # twenty tests, five of them alike: one or two
    bands = {row["agreement"]: row for row in found["power"]}
    assert bands["0.7 to 0.8"]["mean"] > 0.9
    assert found["agreement"]["auditees"] == 10
    settings = {"films": 300, "audits": 4, "pool": 700, "seed": 0}
    assert json.loads(path.read_text())["one"]["settings"] == settings
    path.write_text(json.dumps({"one": {"settings": settings, "kept": True}}))
    same = {"films": 300, "audits": 4, "path": path, "name": "one"}
    assert audit_pool(brought, **same)["kept"]
    with pytest.raises(
        CheckpointError, match=r"'one', belongs to another .*: films is 300, not 200"
    ):
        audit_pool(brought, **same | {"films": 200})
    with pytest.raises(CheckpointError, match="seed is 0, not 1"):
        audit_pool(brought, **same, seed=1)
    with pytest.raises(CheckpointError, match="pool is 700, not 650"):
        audit_pool(pool(650, strength=0.0, mistake=0.3), **same)


def test_rates_are_summed_up_by_column_and_by_agreement(tmp_path, monkeypatch):
    """Columns 0 to 4 do not lean and agree everywhere; 50 to 54 are invariant."""
    rates = np.arange(55) / 100
    monkeypatch.setattr(power, "rejected", lambda *given, **settings: Rates(rates, rates / 2))
    brought = pool(60, strength=0.0, mistake=0.0)
    found = audit_pool(brought, films=30, audits=1, path=tmp_path / "audit.json", name="one")
    level = {"mean": 0.52, "largest": 0.54, "parity_mean": 0.26}
    assert found["type_one"] == pytest.approx({"auditees": 5, **level})
    assert sum(row["columns"] for row in found["power"]) == 50
    last = found["power"][-1]
    agreeing = [row["true"] > 0.99 for row in found["columns"][:50]]
    assert all(agreeing[:5])
    assert last["agreement"] == "0.99 to 1"
    assert last["columns"] == sum(agreeing)
    assert last["mean"] == pytest.approx(rates[:50][agreeing].mean())
    assert last["least"] == 0


def test_audits_share_no_film_while_there_are_others(monkeypatch):
    brought, seen = pool(120, strength=0.0, mistake=0.3), []

    def judged(said, under, group, features, rng):
        seen.append(said[:, 0].tolist())
        return judged_between_people(said, under, group, features, rng)

    monkeypatch.setattr(power, "judged_between_people", judged)
    power.rejected(auditees_of(brought), brought, films=40, audits=4)
    assert [len(set(films)) for films in seen] == [40] * 4
    assert len(set().union(*seen[:3])) == 120
    assert set(seen[3]) not in [set(films) for films in seen[:3]]


def test_audits_of_more_films_than_the_pool_holds_are_refused(tmp_path):
    brought = pool(50, strength=0.0, mistake=0.3)
    with pytest.raises(TooFewRowsError, match="60") as refused:
        audit_pool(brought, films=60, audits=1, path=tmp_path / "audit.json", name="one")
    assert "50" in str(refused.value)


def test_the_recorded_audits_know_of_people_what_an_audit_does(monkeypatch):
    """Level and power are those of the test that is shipped."""
    brought, seen = pool(300, strength=0.0, mistake=0.3), []

    def judged(said, under, group, features, rng):
        seen.append(features)
        return judged_between_people(said, under, group, features, rng)

    monkeypatch.setattr(power, "judged_between_people", judged)
    power.rejected(auditees_of(brought), brought, films=300, audits=1)
    expected = features_of(Simulator(size=16).draw(300, seed=0).parents)
    ours, theirs = (np.hstack(known) for known in (seen[0], expected))
    assert ours[np.lexsort(ours.T)] == pytest.approx(theirs[np.lexsort(theirs.T)])


class Brighter:
    """A generator that is wrong by a tenth, whatever it is asked."""

    def counterfactual(self, images, parents, *, group):
        return images + 0.1


def corner(images):
    """Readers who say the first six pixels."""
    return images.flatten(1)[:, :6]


def read(folder, *, shift, count):
    plan = PoolPlan(Settings(folder, size=16), form="brighter", shift=shift, count=count)
    return read_pool(plan, SimpleNamespace(kinds=("plain",), logits=corner))


def test_what_is_made_is_read_apart_from_what_is_true(tmp_path, monkeypatch):
    monkeypatch.setattr(pools, "generator_of", lambda *given: Brighter())
    found = read(tmp_path, shift=0.0, count=20)
    own, everyone = found.codes[:, 0].long(), torch.arange(20)
    assert torch.allclose(found.composition, torch.tensor(0.1))
    assert torch.allclose(found.made, found.original + 0.1)
    assert torch.equal(found.true[own, everyone], found.original)
    assert not torch.equal(found.true[(own + 1) % 3, everyone], found.original)


def test_each_shift_of_prevalence_has_films_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(pools, "generator_of", lambda *given: DoNothing())
    plain, shifted = (read(tmp_path, shift=shift, count=200).codes for shift in (0.0, 1.5))
    assert not torch.isin(plain[:, 1], shifted[:, 1]).any()
    gaps = [
        codes[codes[:, 0] == 1, 4:].mean(0) - codes[codes[:, 0] == 2, 4:].mean(0)
        for codes in (plain, shifted)
    ]
    assert (gaps[1] - gaps[0] > 0.2).all()


@pytest.fixture(scope="module")
def panel():
    school = School(Simulator(size=32), seed=0, people=40, epochs=1)
    return trained_panel(school, trained_readers(school, kinds=["plain"]))


def test_quality_is_kept_per_variant_and_only_for_its_settings(tmp_path, panel):
    path = tmp_path / "quality-all-32.json"
    settings = Settings(tmp_path, size=32)
    asked = {"forms": ["nothing"], "count": 30, "walk": Walk(), "path": path}
    first = evaluate(settings, panel, **asked)["all nothing"]
    assert first["settings"]["count"] == 30
    assert first["settings"]["walk"]["steps"] == Walk().steps
    held = json.loads(path.read_text())
    path.write_text(json.dumps(held | {"somebody": "else"}))
    evaluate(settings, panel, **asked | {"forms": ["nothing", "truth"]})
    after = json.loads(path.read_text())
    assert set(after) == {"somebody", "all nothing", "all truth"}
    assert after["all nothing"] == held["all nothing"]  # with its seconds: not measured again
    for other, message in (
        ({"count": 20}, "count is 30, not 20"),
        ({"walk": Walk(steps=3)}, "walk is"),
    ):
        with pytest.raises(CheckpointError, match=f"'all nothing', belongs to another .*{message}"):
            evaluate(settings, panel, **asked | other)
    with pytest.raises(CheckpointError, match=r"strength is 1\.0, not 2\.0"):
        evaluate(replace(settings, strength=2.0), panel, **asked)
    path.write_text(json.dumps({"all nothing": {"composition": [0.0]}}))
    with pytest.raises(CheckpointError, match="count is None, not 30"):
        evaluate(settings, panel, **asked)


def test_a_generator_is_asked_once_about_the_films_and_once_about_the_way_back(
    tmp_path, panel, monkeypatch
):
    asked = []

    class Counting(DoNothing):
        def counterfactual(self, images, parents, *, group):
            asked.append(group)
            return images

    monkeypatch.setattr(evaluation, "generator_of", lambda *given: Counting())
    path = tmp_path / "quality.json"
    settings = Settings(tmp_path, size=32)
    found = evaluate(settings, panel, forms=["any"], count=30, walk=Walk(), path=path)["all any"]
    assert asked[:3] == [0, 1, 2]
    assert len(asked) == 4
    assert found["composition"] == (0.0,)
    assert found["truth"]["ratio"] == 1.0


def test_the_way_back_is_made_anew_by_a_generator_that_errs(tmp_path, panel, monkeypatch):
    monkeypatch.setattr(evaluation, "generator_of", lambda *given: Brighter())
    asked = {"forms": ["any"], "count": 30, "walk": Walk(), "path": tmp_path / "quality.json"}
    found = evaluate(Settings(tmp_path, size=32), panel, **asked)["all any"]
    assert found["composition"] == pytest.approx((0.1,), rel=1e-5)
    assert found["reversibility"] == pytest.approx((0.2,), rel=1e-5)


def test_a_mistake_in_the_first_group_alone_shows_in_the_agreement(tmp_path, panel, monkeypatch):
    class WrongInOne:
        def __init__(self, films):
            self.films = films

        def counterfactual(self, images, parents, *, group):
            true = self.films.told(group=group).images()
            wrong = torch.as_tensor(group).expand(len(images)) == 0
            return torch.where(wrong[:, None, None, None], 0 * true, true)

    monkeypatch.setattr(evaluation, "generator_of", lambda *given: WrongInOne(given[-1]))
    asked = {"forms": ["any"], "count": 30, "walk": Walk(), "path": tmp_path / "quality.json"}
    found = evaluate(Settings(tmp_path, size=32), panel, **asked)["all any"]
    assert found["agreement"]["mean_error"] > 0.05


def test_judged_agreement_is_at_the_median_too_and_every_world_counts():
    said, moved = torch.tensor(SKEWED), torch.tensor(MOVED)
    for group in range(3):
        worlds = [moved if at == group else said for at in range(3)]
        found = agreement([lambda films: films], said, worlds)
        assert found.tolist() == [[pytest.approx(14 / 15)]]


def test_the_ceiling_moves_images_by_what_the_autoencoder_sees_of_the_change(tmp_path, monkeypatch):
    halving = SimpleNamespace(encode=lambda images: images, decode=lambda latents: latents / 2)
    known = SimpleNamespace(autoencoder=halving)
    monkeypatch.setattr(evaluation, "trained_generator", lambda settings: known)
    settings = Settings(tmp_path, size=16)
    films = settings.simulator.draw(6, seed=0)
    images, people = films.images(), films.parents
    ceiling = generator_of("ceiling", settings, Walk(), films)
    own = ceiling.counterfactual(images, people, group=people.group)
    assert torch.allclose(own, images, atol=1e-6)
    told = (people.group + 1) % 3
    made = ceiling.counterfactual(images, people, group=told)
    true = films.told(group=told).images()
    assert torch.allclose(made, (images + true) / 2, atol=1e-6)


def test_the_gaussian_is_fitted_to_other_people_than_it_is_tested_on(tmp_path, monkeypatch):
    fitted = []
    monkeypatch.setattr(evaluation, "fit_gaussian", lambda images, who: fitted.append(who))
    settings = Settings(tmp_path, size=16)
    films = settings.simulator.draw(50, seed=evaluation.TEST_SEED)
    generator_of("gaussian", settings, Walk(), films)
    assert set(fitted[0].age.tolist()).isdisjoint(films.parents.age.tolist())


def test_every_network_learns_from_films_that_no_other_one_sees(monkeypatch):
    seeds, draw = [], Simulator.draw

    def watched(simulator, n, *, seed, device="cpu"):
        seeds.append(seed)
        return draw(simulator, n, seed=seed, device=device)

    monkeypatch.setattr(Simulator, "draw", watched)
    school = School(Simulator(size=16), seed=0, people=20, epochs=1)
    trained_panel(school, trained_readers(school, kinds=["plain", "steady", "shifted"]))
    assert len(set(seeds)) == len(seeds) == 6


def test_no_form_is_begun_when_the_time_is_over(tmp_path, panel):
    path = tmp_path / "quality.json"
    settings = Settings(tmp_path, size=32)
    asked = {"forms": ["nothing", "truth"], "count": 30, "walk": Walk(), "path": path}
    assert evaluate(settings, panel, **asked, seconds=-1.0) == {}
    assert not path.exists()


def test_judges_are_kept_and_refused_to_another_school(tmp_path):
    school = School(Simulator(size=32), seed=0, people=40, epochs=1)
    readers = trained_readers(school, kinds=["plain"], path=tmp_path / "readers.pt")
    films = Simulator(size=32).draw(4, seed=0).images()
    first, again = (trained_panel(school, readers, path=tmp_path / "judges.pt") for _ in range(2))
    assert (first.judges.others(films) == again.judges.others(films)).all()
    with pytest.raises(CheckpointError, match="people is 40, not 50"):
        trained_panel(replace(school, people=50), readers, path=tmp_path / "judges.pt")
    with pytest.raises(CheckpointError, match=r"networks is .*plain 1.*, not .*steady 1"):
        trained_readers(school, kinds=["steady"], path=tmp_path / "readers.pt")


def test_what_another_run_adds_meanwhile_is_not_lost(tmp_path, panel, monkeypatch):
    path = tmp_path / "quality-all-32.json"

    def meanwhile(*given):
        keep_measured(path, {"somebody": "else"})
        return generator_of(*given)

    monkeypatch.setattr(evaluation, "generator_of", meanwhile)
    asked = {"forms": ["nothing"], "count": 30, "walk": Walk(), "path": path}
    evaluate(Settings(tmp_path, size=32), panel, **asked)
    assert set(json.loads(path.read_text())) == {"somebody", "all nothing"}


def test_a_vae_is_found_by_the_plan_that_it_learned_by(tmp_path):
    settings = Settings(tmp_path, size=32, steps=1)
    train_vae(settings, beta=1.0)
    found = generator_of("vae-1", settings, Walk(), settings.simulator.draw(2, seed=0))
    assert found.network.plan.pace.steps == 1


def test_each_variant_has_a_file_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(panels, "LEANINGS", (0.0, 3.0))  # two auditees of each reader, not ten
    where = ["--size", "32", "--device", "cpu", "--folder", str(tmp_path)]
    few = ["--people", "40", "--epochs", "1", "--count", "30"]
    for variant in ("paper", "all"):
        main(["--stage", "evaluate", "--forms", "nothing", "--variant", variant, *few, *where])
    kept = {path.name: set(json.loads(path.read_text())) for path in tmp_path.glob("quality*")}
    assert kept == {
        "quality-paper-32.json": {"paper nothing"},
        "quality-all-32.json": {"all nothing"},
    }


def test_the_stages_run_and_resume(tmp_path, capsys):
    where = ["--size", "32", "--device", "cpu", "--folder", str(tmp_path), "--strength", "2"]
    few = ["--people", "40", "--epochs", "1", "--pool", "120", "--batch", "60", "--shifts", "0"]
    few += ["--made", "truth", "--audited", "100", "--audits", "1"]
    main(["--stage", "scores", "--seconds", "0", *few, *where])
    assert "60 of 120 films" in capsys.readouterr().out
    first = torch.load(tmp_path / "pool-all-truth-0-32.pt", weights_only=True)["original"]
    main(["--stage", "scores", *few, *where])
    assert "120 of 120 films" in capsys.readouterr().out
    plan = PoolPlan(Settings(tmp_path, size=32, strength=2.0), "truth", 0.0, walk=Walk(batch=60))
    whole = kept_pool(plan)
    assert (whole.original[:60] == first).all()
    assert (whole.made == whole.true).all()
    main(["--stage", "audit", *few, *where])
    told = json.loads(capsys.readouterr().out)["all truth 0"]
    assert told["agreement"]["largest_error"] == 0
    assert told["type_one"] == {"auditees": 35, "mean": 0, "largest": 0, **_parity(told)}
    with pytest.raises(CheckpointError, match="strength"):
        main(["--stage", "audit", *few, *where[:-1], "1"])


def _parity(told):
    return {"parity_mean": told["type_one"]["parity_mean"]}
