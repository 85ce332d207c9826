"""Which sections does an audit have? Data, roles, groups, predictor, estimator, settings and more.

Each is checked on its own, so that all that is wrong with a file is found at once.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import model_validator

from causalfairness.errors import CausalFairnessError, PredictorError
from causalfairness.fairness_model import StandardFairnessModel
from causalfairness.graph import CausalGraph
from causalfairness.settings import (
    Closed,
    Columns,
    Contradiction,
    GroupValue,
    Level,
    Number,
    Text,
    Texts,
    Truth,
    Value,
    Whole,
    said,
    whole,
)
from causalfairness.tables.disclosure import SMALLEST

COLUMN = "the name of a column"
WANTED = "the value of outcome or decision that people want; of numbers 'higher' or 'lower'"
COLUMNS = "a list of columns, each once"
GROUP = "a group: one value, or a list with one value for each protected column"
LARGEST_SEED = 2**63 - 1
UNSAID = "?"  # stands in proposed audits where only people can say what is wanted


class DataSource(Closed):
    """Where is the data, how were its rows drawn, and how are its columns read? As `cf.Table`."""

    source: Annotated[
        Text,
        said("a path or pattern of CSV or Parquet files, or dataset:NAME for bundled data"),
    ]
    missing: Annotated[
        Literal["refuse", "drop", "category"],
        said("'refuse', 'drop' or 'category'"),
    ] = "refuse"
    columns: Annotated[Texts, said(f"{COLUMNS}: further ones that the predictor needs")] = ()
    categorical: Annotated[Texts, said(f"{COLUMNS}: whole numbers that are codes")] = ()
    numeric: Annotated[Texts, said(f"{COLUMNS}: text that holds numbers, or amounts")] = ()
    accept: Annotated[Texts, said(f"{COLUMNS}: looked at, and used all the same")] = ()
    weights: Annotated[Text | None, said(COLUMN)] = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        for name in self.categorical:
            if name in self.numeric:
                raise Contradiction(f"{name!r} is both in categorical and in numeric; choose one")
        return self

    @property
    def reading(self) -> dict[str, Any]:
        """How are columns read? Missing values and weights apart, which questions are told."""
        return self.model_dump(include={"categorical", "numeric", "accept"})


class Roles(Closed):
    """Who is compared with whom, and what part does every column play?"""

    protected: Annotated[Columns, said("a column, or a list of columns")]
    reference: Annotated[GroupValue, said(GROUP)]
    comparison: Annotated[GroupValue | None, said(f"{GROUP}; left out: everyone else")] = None
    confounders: Annotated[Texts, said(COLUMNS)] = ()
    mediators: Annotated[Texts, said(COLUMNS)] = ()
    outcome: Annotated[Text | None, said(COLUMN)] = None
    outcome_value: Annotated[Value | None, said("the value of the outcome that counts as 1")] = None
    prediction: Annotated[Text | None, said(COLUMN)] = None
    weights: Annotated[Text | None, said(COLUMN)] = None
    favorable: Annotated[Value | None, said(WANTED)] = None
    graph: Annotated[
        Text | None,
        said("the text of a causal graph, such as 'race -> priors; race <-> age'"),
    ] = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.graph is not None and (self.confounders or self.mediators):
            raise Contradiction(
                "the graph says which columns are confounders and mediators; give either graph, "
                "or confounders and mediators",
            )
        if self.favorable == UNSAID:
            raise Contradiction(
                f"favorable is still {UNSAID!r}: say which value of the outcome or decision people "
                "want, such as favorable = 0 where 1 means trouble"
            )
        try:
            if self.graph is not None:
                CausalGraph.parse(self.graph)
            self.model(self.prediction or (None if self.outcome else not_loaded))
        except CausalFairnessError as refusal:
            raise Contradiction(str(refusal)) from None
        return self

    def model(self, prediction: Any) -> StandardFairnessModel:
        """Which model do the roles make, with this prediction: a column, a function or None?"""
        common = self.model_dump(exclude={"confounders", "mediators", "graph"})
        common["prediction"] = prediction
        if not isinstance(self.protected, str):
            common["protected"] = [*self.protected]
        if self.graph is not None:
            return StandardFairnessModel.from_graph(CausalGraph.parse(self.graph), **common)
        return StandardFairnessModel(
            confounders=self.confounders, mediators=self.mediators, **common
        )


class Pair(Closed):
    """Which two groups are compared as well?"""

    reference: Annotated[GroupValue, said(GROUP)]
    comparison: Annotated[GroupValue, said(GROUP)]


class Groups(Closed):
    """Which groups are compared, besides the two that the roles name?"""

    pairs: Annotated[tuple[Pair, ...], said("a list of tables with reference and comparison")] = ()
    each: Annotated[Truth, said("true or false")] = False
    intersections: Annotated[Truth, said("true or false")] = False


class PredictorChoice(Closed):
    """What is audited, if it is not a column: a function, or a saved model? And how does it decide?

    Functions and saved models run code, and are loaded only with explicit trust.
    """

    function: Annotated[Text | None, said("a function of a frame, as 'module:function'")] = None
    file: Annotated[Text | None, said("the path of a saved scikit-learn model")] = None
    frame: Annotated[Literal["pandas", "pyarrow"], said("'pandas' or 'pyarrow'")] = "pandas"
    columns: Annotated[
        Texts, said(f"{COLUMNS}: what a model takes that does not know names, in order")
    ] = ()
    threshold: Annotated[Number | None, said("a number: decisions are 1 from this score on")] = None
    favorable: Annotated[
        Literal[0, 1] | None, said("0 or 1: the decision that people want; or say it in roles")
    ] = None

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.function is not None and self.file is not None:
            raise Contradiction("give either function or file, not both")
        if self.columns and not self.is_code:
            raise Contradiction("columns says what a function or model takes; give one of them")
        if self.function is not None and self.function.count(":") != 1:
            raise Contradiction(
                f"function is {self.function!r}; expected a module and a function with a colon "
                "between them, such as 'scoring:predict'"
            )
        return self

    @property
    def is_code(self) -> bool:
        """Does it take running somebody's code?"""
        return self.function is not None or self.file is not None


class EstimatorChoice(Closed):
    """Which estimator answers the causal questions?"""

    method: Annotated[
        Literal["auto", "strata", "doubly_robust", "regression", "weighting"],
        said("'auto', 'strata', 'doubly_robust', 'regression' or 'weighting'"),
    ] = "auto"
    empty_cells: Annotated[
        Literal["refuse", "restrict", "regression", "zero"],
        said("'refuse', 'restrict', 'regression' or 'zero'; for strata"),
    ] = "refuse"
    folds: Annotated[Whole, whole(2, 100, "; for doubly_robust")] = 5
    repeats: Annotated[Whole, whole(1, 100, "; for doubly_robust")] = 1


SHARE = "a share, 0 or more and below 1, such as 0.05"
Share = Annotated[Number, said(SHARE, ge=0, lt=1)]


class SensitivityChoice(Closed):
    """Is it asked how strong a hidden common cause would have to be, and which one is stated?

    `outcome_share` and `group_share` are the strength whose band is shown; `benchmarks` leave out
    the confounders one by one, at most so many of them.
    """

    ask: Annotated[Truth, said("true or false")] = True
    outcome_share: Share = 0.05
    group_share: Share = 0.05
    benchmarks: Annotated[Truth, said("true or false")] = True
    most: Annotated[Whole, whole(0, 1000, ": how many confounders are left out in turn")] = 5


class Settings(Closed):
    """At which level, from which seed, and how small a group is listed?"""

    level: Annotated[Level, said("a number between 0.5 and 1, such as 0.95")] = 0.95
    seed: Annotated[Whole, said("a whole number of 0 or more", ge=0, le=LARGEST_SEED)] = 0
    smallest: Annotated[Whole, whole(0, 10**6, ": smaller groups are unlisted")] = SMALLEST


def not_loaded(people: Any) -> Any:
    """Stands for a prediction that is loaded when the audit runs, and is never asked before."""
    raise PredictorError(f"the predictor is not loaded yet; it was asked about {len(people)} rows")
