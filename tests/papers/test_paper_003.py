"""Figure 5 of the business-necessity paper: COMPAS outcome and Northpointe's prediction.

Numbers cite `paper_003_compas` of the reference file: percent, with the half width of a 95 %
interval. The paper's Ctf-IE and Ctf-SE run from x1 to x0.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import causalfairness as cf
from causalfairness.estimators import DoublyRobust
from judging import NORTHPOINTE, gap_between_sum_and_total

PRINTED = {
    "outcome": {
        "direct_01_given_0": (-0.08, 2.59),
        "indirect_10_given_0": (-5.06, 1.24),
        "spurious_10": (-3.17, 1.53),
    },
    "prediction": {
        "direct_01_given_0": (6.0, 2.96),
        "indirect_10_given_0": (-7.73, 1.53),
        "spurious_10": (-3.75, 1.58),
    },
}
TOTAL = {"outcome": 8.64, "prediction": 16.94}
MODEL = replace(NORTHPOINTE, prediction="northpointe")


@pytest.fixture(scope="module")
def compas():
    data = cf.datasets.load_compas(propublica_filter=False)
    high = np.asarray(data["decile_score"]) > 4
    return data.append_column("northpointe", pa.array(high.astype(int)))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
@pytest.mark.parametrize("of", PRINTED)
def test_every_effect_overlaps_the_printed_interval_and_is_no_less_precise(compas, of, seed):
    found = cf.decompose_disparity(compas, MODEL, of=of, estimator=DoublyRobust(), seed=seed)
    assert found.diagnostics.rows.used == 7214
    assert 100 * found.total.value == pytest.approx(TOTAL[of], abs=0.005)
    assert gap_between_sum_and_total(found) < 1e-12
    table = found.table()
    for name, (value, half_width) in PRINTED[of].items():
        low, high = (100 * end for end in table[name].interval())
        assert low <= value + half_width, name
        assert high >= value - half_width, name
        assert (high - low) / 2 <= half_width, name
