"""What could hidden confounding do to each effect? Bands, robustness values, and their limits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from causalfairness.effects.table import as_section
from causalfairness.parity.metrics.table import MetricTable
from causalfairness.sensitivity.effect_sensitivity import EffectSensitivity
from causalfairness.sensitivity.stages import STAGES, STORIES
from causalfairness.sensitivity.strengths import Strengths
from causalfairness.sensitivity.words import percent, sentence_about


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What could hidden confounding do to each effect, and how strong would it have to be?

    One `EffectSensitivity` per effect, by iterating or by name; `table()` holds all of them, and
    `notes` what must be kept in mind.

    >>> import causalfairness as cf
    >>> world = cf.datasets.worlds.binary()
    >>> found = cf.decompose_disparity(world.draw(4_000, seed=0), world.model)
    >>> shown = cf.sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05)
    >>> [each.name for each in shown]
    ['direct', 'indirect', 'spurious', 'total_effect']
    """

    what: str
    reference: str
    comparison: str
    effects: tuple[EffectSensitivity, ...]
    strengths: Strengths
    margin: float
    level: float
    estimator: str
    assumptions: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[EffectSensitivity]:
        return iter(self.effects)

    def __len__(self) -> int:
        return len(self.effects)

    def __getitem__(self, name: str) -> EffectSensitivity:
        for found in self.effects:
            if found.name == name:
                return found
        names = ", ".join(found.name for found in self.effects)
        raise KeyError(f"no effect is named {name!r}; there are {names}")

    def table(self) -> MetricTable:
        """What could hidden confounding do to each effect, row by row?

        `by_mediators` and `by_group` are the bounds of the two stages, `band_low` and `band_high`
        the effect with both of them, `low` and `high` its widened interval.

        >>> import causalfairness as cf
        >>> world = cf.datasets.worlds.binary()
        >>> found = cf.decompose_disparity(world.draw(4_000, seed=0), world.model)
        >>> shown = cf.sensitivity_to_confounding(found, outcome_share=0.0, group_share=0.0)
        >>> {record["by_group"] for record in shown.table()}
        {0.0}
        """
        return MetricTable(
            tuple(
                {
                    "effect": found.name,
                    "value": found.effect.value,
                    "by_mediators": found.bound("mediators"),
                    "by_group": found.bound("group"),
                    "band_low": found.band().low,
                    "band_high": found.band().high,
                    "low": found.interval().low,
                    "high": found.interval().high,
                    "robustness": found.robustness(),
                    "robustness_of_interval": found.robustness_of_interval(),
                }
                for found in self.effects
            )
        )

    def sentences(self) -> tuple[str, ...]:
        """What do the bounds say, in plain words? The strength that was stated, then each effect.

        >>> import causalfairness as cf
        >>> world = cf.datasets.worlds.binary()
        >>> found = cf.decompose_disparity(world.draw(4_000, seed=0), world.model)
        >>> shown = cf.sensitivity_to_confounding(found, outcome_share=0.05, group_share=0.05)
        >>> print(shown.sentences()[0])
        As a hidden common cause of the outcome and of mediators or group: 5.0% of what is left ...
        """
        stated = "; ".join(
            f"as {STORIES[stage]}: {percent(self.strengths[stage].outcome)} of what is left "
            f"unexplained, {percent(self.strengths[stage].group)} of the weights"
            for stage in STAGES
        )
        return f"{stated[0].upper()}{stated[1:]}.", *map(sentence_about, self.effects)

    def __str__(self) -> str:
        return "\n".join([self._title, str(self.table()), *self.sentences(), *self._small_print()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        table, small = self.table()._repr_html_(), "\n".join(self._small_print())
        return as_section(self._title, table, self.sentences(), small)

    @property
    def _title(self) -> str:
        return (
            f"{self.what}: {self.comparison} against {self.reference}, if something else is hidden"
        )

    def _small_print(self) -> list[str]:
        return [f"estimator: {self.estimator}", *(f"note: {note}" for note in self.notes)]
