"""How large is the effect along each path, on the outcome and on the prediction?

The three paths are those of the sequential decomposition (methods §2), signed as changes from the
reference group to the comparison group: direct, indirect, spurious add up to the gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from causalfairness.effects import Diagnostics, Effect, Estimate
from causalfairness.effects.settled import part, told
from causalfairness.effects.world_means import WorldMeans
from causalfairness.estimators.joint import Both
from causalfairness.fairness_model import StandardFairnessModel

PATHS = ("direct", "indirect", "spurious")
NO_WAY = "there is nothing that it could lead through"
ROUNDING = 1e-12  # relative size below which outcome and prediction differ by rounding only


@dataclass(frozen=True, eq=False)
class PathEffects:
    """How large is the effect along one path, on the outcome and on the prediction?

    >>> from causalfairness.effects import Basis
    >>> one = Effect("direct", 0.2, np.array([0.1, 0.0]), Basis("", "rows"))
    >>> PathEffects("direct", "", one, one).difference(allowed=True).standard_error
    0.0
    """

    name: str
    through: str  # what the path leads through, in words; empty for the direct path
    outcome: Effect
    prediction: Effect

    def difference(self, *, allowed: bool) -> Effect:
        """What must vanish? The prediction's effect, or what it is off from the outcome's."""
        if not allowed:
            return self.prediction.named(self.name)
        apart = self.prediction - self.outcome
        value = max(abs(self.prediction.value), abs(self.outcome.value))
        error = max(self.prediction.standard_error, self.outcome.standard_error)
        if abs(apart.value) <= ROUNDING * value and apart.standard_error <= ROUNDING * error:
            apart = apart.vanished()
        return apart.named(self.name)


@dataclass(frozen=True, eq=False)
class Findings:
    """What was found along all paths, on which rows, and with what caveats?"""

    paths: tuple[PathEffects, ...]
    diagnostics: tuple[Diagnostics, ...]  # of outcome and prediction; one where it is the same
    assumptions: tuple[str, ...]
    notes: tuple[str, ...]
    in_points: bool  # whether outcome and prediction are shares, to be read in percent
    estimates: tuple[Estimate, ...] = ()  # of outcome and prediction, where world means were made

    @property
    def people(self) -> list[int]:
        """How many people is each path about?"""
        return [min(each.rows.used for each in self.diagnostics)] * len(self.paths)


def three_paths(both: Both, model: StandardFairnessModel) -> Findings:
    """What are the direct, indirect and spurious effects, on one basis?"""
    outcome, prediction = both.outcome.world_means, both.prediction.world_means
    through = {
        "direct": "",
        "indirect": _listed("through", model.mediators),
        "spurious": _listed("with", model.confounders),
    }
    estimates = tuple(told(each, "sequential") for each in (both.outcome, both.prediction))
    paths = tuple(
        PathEffects(name, through[name], *(part(each, name, "sequential") for each in estimates))
        for name in PATHS
    )
    stated = tuple(replace(each.diagnostics, chosen_because=both.because) for each in estimates)
    return Findings(
        paths=paths,
        diagnostics=stated,
        assumptions=tuple(dict.fromkeys(line for each in stated for line in each.assumptions)),
        notes=tuple(dict.fromkeys(line for each in stated for line in each.notes)),
        in_points=all(map(_are_shares, (outcome, prediction))),
        estimates=(both.outcome, both.prediction),
    )


def _listed(word: str, columns: Sequence[str]) -> str:
    names = ", ".join(columns)
    return f"{word} {names}" if names else NO_WAY


def _are_shares(means: WorldMeans) -> bool:
    return bool(np.all((means.values >= 0) & (means.values <= 1)))
