"""Is this person treated differently than they would have been in another group?"""

from causalfairness.individuals.counterfactual_fairness import counterfactual_fairness
from causalfairness.individuals.distances import (
    MixedDistance,
    Points,
    StandardizedDistance,
    mixed_distance,
    standardized,
)
from causalfairness.individuals.dossier import Dossier
from causalfairness.individuals.graphs import GraphComparison, compare_graphs
from causalfairness.individuals.neighbors import Neighbors, nearest_neighbors
from causalfairness.individuals.published_situations import published_situation_test
from causalfairness.individuals.shifts import CounterfactualFairness, Densities, GroupShift
from causalfairness.individuals.situation_comparison import (
    SituationComparison,
    compare_situations,
)
from causalfairness.individuals.situation_result import SituationTest
from causalfairness.individuals.situation_table import (
    SituationCounts,
    SituationSummary,
    SituationTable,
)
from causalfairness.individuals.situations import counterfactual_situation_test, situation_test

__all__ = [
    "CounterfactualFairness",
    "Densities",
    "Dossier",
    "GraphComparison",
    "GroupShift",
    "MixedDistance",
    "Neighbors",
    "Points",
    "SituationComparison",
    "SituationCounts",
    "SituationSummary",
    "SituationTable",
    "SituationTest",
    "StandardizedDistance",
    "compare_graphs",
    "compare_situations",
    "counterfactual_fairness",
    "counterfactual_situation_test",
    "mixed_distance",
    "nearest_neighbors",
    "published_situation_test",
    "situation_test",
    "standardized",
]
