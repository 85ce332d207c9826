"""Does the experiment measure level, power and agreement of the audit, and go on if it stops?"""

import json

import numpy as np
import pytest
import torch
from scipy.special import expit

from causalfairness.errors import CheckpointError
from causalfairness.imaging.experiment.__main__ import main
from causalfairness.imaging.experiment.panel import LEANINGS
from causalfairness.imaging.experiment.pools import Pool, PoolPlan, kept_pool
from causalfairness.imaging.experiment.power import audit_pool, auditees_of
from causalfairness.imaging.experiment.stages import Settings
from causalfairness.imaging.generator import Walk
from causalfairness.imaging.simulator import Simulator
from causalfairness.imaging.tokens import codes_of


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
    assert json.loads(path.read_text())["one"]["films"] == 300
    again = audit_pool(brought, films=200, audits=1, path=path, name="one")
    assert again["films"] == 300


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
