"""Which questions can an audit ask? One table each, told apart by `ask`; all keys have defaults.

A question with a `margin` is judged: violated, satisfied or undecided, by the same tests as
business necessity. One without says what was found and judges nothing. Screens never judge.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field

from causalfairness.settings import (
    Closed,
    Do,
    Margin,
    Number,
    Text,
    Texts,
    Truth,
    Value,
    Values,
    Whole,
    said,
    whole,
)

OF = "'outcome' or 'prediction'; left out: the outcome where there is one"
MARGIN = "a number of 0 or more: how far from zero an effect may be; left out: nothing is judged"
CONVENTION = "'sequential' or 'symmetric'"
FEATURES = "a list of columns, each once"
TRUTH = "true or false"
Rate = Literal["fpr", "fnr", "tpr", "tnr", "ppv", "npv"]
Part = Literal["total", "direct", "indirect", "spurious"]
Path = Literal["direct", "indirect", "spurious"]
Convention = Literal["sequential", "symmetric"]
Judge = Annotated[tuple[Part, ...], said("a list of some of total, direct, indirect, spurious")]


class _Judged(Closed):
    """By which margin is it judged, and whose is that?"""

    margin: Annotated[Margin | None, said(MARGIN)] = None
    margin_set_by: Annotated[Text | None, said("text: who set the margin, and why")] = None

    @property
    def margin_note(self) -> str:
        """Who set the margin, in words?"""
        if self.margin_set_by is None:
            return f"nobody said who set the margin of {self.margin:g}"
        return f"the margin of {self.margin:g} was set by {self.margin_set_by}"


class Disparity(_Judged):
    """How much of a gap is direct, indirect or spurious?"""

    ask: Literal["disparity"] = "disparity"
    of: Annotated[Literal["outcome", "prediction"] | None, said(OF)] = None
    convention: Annotated[Convention, said(CONVENTION)] = "sequential"
    judge: Judge = ("direct",)


class ErrorRates(_Judged):
    """How much of a gap in error rates is direct, indirect or spurious?"""

    ask: Literal["error_rates"] = "error_rates"
    rates: Annotated[
        tuple[Rate, ...], said("a list of some of fpr, fnr, tpr, tnr, ppv, npv", min_length=1)
    ] = ("fpr", "fnr")
    with_mediators: Annotated[Truth, said(TRUTH)] = True
    convention: Annotated[Convention, said(CONVENTION)] = "sequential"
    judge: Judge = ("direct",)


class GroupMetricsQuestion(Closed):
    """Do groups fare differently, by the plain metrics that people expect?"""

    ask: Literal["group_metrics"] = "group_metrics"
    bins: Annotated[Whole, whole(1, 1000)] = 10


class PredictiveParityQuestion(_Judged):
    """Does a score mean the same in both groups?"""

    ask: Literal["predictive_parity"] = "predictive_parity"
    bins: Annotated[Whole, whole(1, 1000)] = 20
    replicates: Annotated[Whole | None, whole(2, 100_000, ", or left out")] = None
    counterfactual: Annotated[Truth, said(TRUTH)] = False


class DeclaredNecessity(Closed):
    """Who declared a path necessary, why, and when?"""

    path: Annotated[Path, said("'direct', 'indirect' or 'spurious'")]
    by: Annotated[Text, said("text: who declared it")]
    because: Annotated[Text, said("text: why")]
    on: Annotated[Text | None, said("text: when, such as '2023-05-01'")] = None


class Necessity(_Judged):
    """Does the predictor use only the paths it may, and those as the world does?"""

    ask: Literal["necessity"] = "necessity"
    allowed: Annotated[
        tuple[Path, ...], said("a list of some of 'direct', 'indirect', 'spurious'")
    ] = ()
    declarations: Annotated[
        tuple[DeclaredNecessity, ...], said("a list of tables with path, by, because and on")
    ] = ()


class CounterfactualFairnessQuestion(_Judged):
    """Would each person's prediction have been the same in the other group?"""

    ask: Literal["counterfactual_fairness"] = "counterfactual_fairness"
    do: Annotated[
        Do | None,
        said(
            "a table of what is set, such as {race = 'White'} or {race = {Black = 'White'}}; "
            "left out: people of the comparison group are set to the reference group"
        ),
    ] = None
    draws: Annotated[Whole, whole(1, 1000)] = 1
    replicates: Annotated[Whole | None, whole(2, 10_000, ", or left out")] = None


class SituationsQuestion(Closed):
    """Are people like each one declined more often than like people of the other group?"""

    ask: Literal["situations"] = "situations"
    of: Annotated[Literal["outcome", "prediction"] | None, said(OF)] = None
    features: Annotated[Texts | None, said(FEATURES)] = None
    k: Annotated[
        tuple[Annotated[Whole, Field(ge=1, le=1_000_000)], ...],
        said("a list of whole numbers of at least 1, such as [15]", min_length=1),
    ] = (15,)
    tau: Annotated[Number, said("a number from 0 to 1", ge=0, le=1)] = 0.0
    sided: Annotated[Literal["one", "two"], said("'one' or 'two'")] = "one"
    interval: Annotated[
        Literal["wald", "newcombe", "agresti-caffo"],
        said("'wald', 'newcombe' or 'agresti-caffo'"),
    ] = "newcombe"
    within: Annotated[Number | None, said("a number above 0", gt=0)] = None
    counterfactual: Annotated[Truth, said(TRUTH)] = False
    ids: Annotated[Text | None, said("a column that names people")] = None
    listed: Annotated[Whole, whole(0, 100_000)] = 0
    dossiers: Annotated[Whole, whole(0, 1000)] = 0


class InvarianceQuestion(_Judged):
    """Does the prediction depend on the group once the features are known?"""

    ask: Literal["invariance"] = "invariance"
    features: Annotated[Texts | None, said(FEATURES)] = None
    method: Annotated[
        Literal["projected", "randomization", "paired"],
        said("'projected', 'randomization' or 'paired'"),
    ] = "projected"
    draws: Annotated[Whole, whole(19, 100_000)] = 999


class ScreensQuestion(Closed):
    """Which rates and impact ratios does a published rule ask for?"""

    ask: Literal["screens"] = "screens"
    rule: Annotated[Text, said("the name of a bundled rule, or the path of a rule file")]
    columns: Annotated[
        dict[str, Text], said("a table: the column of each attribute, such as {sex = 'gender'}")
    ]
    selected: Annotated[Text | None, said("the column of decisions")] = None
    favorable: Annotated[Value | None, said("the value of that column that is selected")] = None
    score: Annotated[Text | None, said("a column of scores")] = None
    unknown: Annotated[Values, said("a list of values that stand for unknown")] = ()
    exclude_small: Annotated[Truth, said(TRUTH)] = True
    justification: Annotated[Text | None, said("text: why small categories are left out")] = None


Question = Annotated[
    Disparity
    | ErrorRates
    | GroupMetricsQuestion
    | PredictiveParityQuestion
    | Necessity
    | CounterfactualFairnessQuestion
    | SituationsQuestion
    | InvarianceQuestion
    | ScreensQuestion,
    Discriminator("ask"),
]


def columns_of(question: object) -> tuple[str, ...]:
    """Which columns does a question name, besides those with a role?

    >>> columns_of(SituationsQuestion(features=("age",), ids="number"))
    ('age', 'number')
    """
    found: list[str] = []
    for name in ("features", "ids", "selected", "score"):
        value = getattr(question, name, None)
        found += [] if value is None else [value] if isinstance(value, str) else value
    found += getattr(question, "columns", {}).values()
    return tuple(dict.fromkeys(found))
