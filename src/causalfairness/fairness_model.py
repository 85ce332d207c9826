"""Who is compared with whom, and what part does every column play?

The standard fairness model has five parts: the protected attribute A, confounders C that A does
not cause, mediators M that A may cause, the outcome Y and a prediction of it. Its graph is
A <-> C, A -> M, C -> M, {A, M, C} -> Y, and the prediction is a function of A, M and C; nothing
is confounded except A with C. Every effect is a change from the reference group (a0) to the
comparison group (a1).

A larger causal graph projects onto the model. Of the columns that cause Y or the prediction by
a path that avoids A, the descendants of A are M and the others are C; everything else is left
out. The projection refuses when a hidden common cause, or an arrow against this order, breaks
the assumptions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations, product
from typing import Any

from causalfairness.errors import RoleError
from causalfairness.graph import CausalGraph
from causalfairness.graph.projection import check_roles

EVERYONE_ELSE = "everyone else"
HIGHER, LOWER = "higher", "lower"
NOBODY_SAID = "nobody said which value people want; name it with favorable=..."


@dataclass(frozen=True, kw_only=True)
class StandardFairnessModel:
    """Who is compared with whom, and what is the role of every column?

    `protected` is one column, or several whose values combine (an intersectional attribute);
    `reference` and `comparison` are then tuples with one value per column. One of the two may
    be None: everyone else. `outcome_value` is the label that counts as 1. `prediction` is a
    column, or a function that takes a frame of role columns and returns one number per row.
    `predictor_columns` says which columns, in which order, a function or model takes that does not
    know them by name.
    `favorable` is the value of the outcome or decision that people want, and "higher" or "lower"
    where it is a number; what cannot be asked without it is refused until it is said.

    >>> model = StandardFairnessModel(
    ...     protected="race", reference="Caucasian", comparison="African-American",
    ...     confounders=["age", "sex"], mediators=["priors"], outcome="recid")
    >>> print(model)
    African-American compared with Caucasian (race): a change from Caucasian to African-American.
      protected    race
      confounders  age, sex - not caused by race, may share hidden causes with it
      mediators    priors - may be caused by race and the confounders
      outcome      recid
    >>> model.role_columns
    ('race', 'age', 'sex', 'priors', 'recid')
    """

    protected: str | Sequence[str]
    reference: Any
    comparison: Any
    confounders: Sequence[str] = ()
    mediators: Sequence[str] = ()
    outcome: str | None = None
    outcome_value: Any = None
    prediction: str | Callable[[Any], Any] | None = None
    weights: str | None = None
    predictor_columns: Sequence[str] = ()
    favorable: Any = None
    left_out: Sequence[str] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.protected, str):
            object.__setattr__(self, "protected", _columns("protected", self.protected))
        for role in ("confounders", "mediators", "predictor_columns", "left_out"):
            object.__setattr__(self, role, _columns(role, getattr(self, role)))
        _check_targets(self.outcome, self.prediction)
        _check_distinct(self._columns_by_role())
        for group in ("reference", "comparison"):
            object.__setattr__(self, group, self._group_value(group))
        if self.reference is None and self.comparison is None:
            raise RoleError("reference and comparison are both None (everyone else); name a group")
        if self.reference == self.comparison:
            raise RoleError(
                f"reference and comparison are the same group, {self.reference_label!r}; "
                "compare two different groups"
            )
        if _is_missing(self.outcome_value):
            raise RoleError("outcome_value is a missing value; name the label that counts as 1")
        if _is_missing(self.favorable):
            raise RoleError("favorable is a missing value; name the value that people want")

    @classmethod
    def from_graph(
        cls,
        graph: CausalGraph,
        *,
        protected: str | Sequence[str],
        reference: Any,
        comparison: Any,
        outcome: str | None = None,
        prediction: str | Callable[[Any], Any] | None = None,
        outcome_value: Any = None,
        weights: str | None = None,
        predictor_columns: Sequence[str] = (),
        favorable: Any = None,
    ) -> StandardFairnessModel:
        """Which roles do the columns of a causal graph play?

        Of the columns that cause the outcome or the prediction by a path that avoids
        `protected`, its descendants are mediators and the others confounders; the rest is in
        `left_out`. A prediction that is not in the graph is taken as a function of the columns with
        a role. Refuses with `NotIdentifiedError` where the graph breaks the model's assumptions.

        >>> graph = CausalGraph.parse('''
        ...     race <-> age; {race, age} -> priors; {race, age, priors} -> recid
        ...     lottery -> race; recid -> sentence''')
        >>> model = StandardFairnessModel.from_graph(
        ...     graph, protected="race", reference="a", comparison="b", outcome="recid")
        >>> model.confounders, model.mediators, model.left_out
        (('age',), ('priors',), ('lottery', 'sentence'))
        """
        graph = CausalGraph.of(graph)
        attribute = _columns("protected", [protected] if isinstance(protected, str) else protected)
        _check_targets(outcome, prediction)
        targets = [] if outcome is None else [outcome]
        if isinstance(prediction, str) and prediction in graph.nodes:
            targets.append(prediction)
        if not targets:
            raise RoleError(
                "the graph says nothing about the prediction, so it cannot say which columns "
                "are mediators; name an outcome, or add the prediction to the graph with an "
                "arrow from every column it uses"
            )
        caused = frozenset(graph.descendants(attribute))
        causes = graph.ancestors(targets, avoiding=attribute)
        placed = {*attribute, *causes, *targets, weights}
        model = cls(
            protected=protected,
            reference=reference,
            comparison=comparison,
            confounders=[column for column in causes if column not in caused],
            mediators=[column for column in causes if column in caused],
            outcome=outcome,
            outcome_value=outcome_value,
            prediction=prediction,
            weights=weights,
            predictor_columns=predictor_columns,
            favorable=favorable,
            left_out=[column for column in graph.nodes if column not in placed],
        )
        check_roles(graph, {c: r for r, each in model._columns_by_role().items() for c in each})
        return model

    def to_graph(self) -> CausalGraph:
        """Which causal graph does the model stand for, column by column?

        The model says nothing about arrows within a role, so the graph shows none: do not read
        independences between two mediators or two confounders from it.

        >>> print(StandardFairnessModel(
        ...     protected="race", reference=0, comparison=1, confounders=["age"],
        ...     mediators=["priors"], outcome="recid").to_graph())
        race <-> age; {race, age} -> priors; {race, age, priors} -> recid
        """
        hidden = product(self.protected_columns, self.confounders)
        outside = (*self.protected_columns, *self.confounders)
        targets = [name for name in (self.outcome, self.prediction_column) if name is not None]
        arrows = [*product(outside, self.mediators)]
        arrows += product((*outside, *self.mediators), targets)
        return CausalGraph.from_edges(arrows, hidden, (*outside, *self.mediators, *targets))

    def target_label(self, of: str = "outcome") -> str:
        """What is the outcome or prediction called, with the value that counts as 1?

        >>> StandardFairnessModel(
        ...     protected="race", reference=0, comparison=1, outcome="hired", outcome_value="yes"
        ... ).target_label()
        'hired = yes'
        """
        column = self.outcome if of == "outcome" else self.prediction_column or "prediction"
        return f"{column}" if self.outcome_value is None else f"{column} = {self.outcome_value}"

    def for_groups(self, *, reference: Any = ..., comparison: Any = ...) -> StandardFairnessModel:
        """What is the model for other groups? A group that is not given stays.

        >>> model = StandardFairnessModel(
        ...     protected="race", reference="White", comparison="Black", outcome="hired")
        >>> other = model.for_groups(comparison=None)
        >>> other.reference_label, other.comparison_label
        ('White', 'everyone else')
        """
        return replace(
            self,
            reference=self.reference if reference is ... else reference,
            comparison=self.comparison if comparison is ... else comparison,
        )

    def wanting(self, favorable: Any) -> StandardFairnessModel:
        """The same model with the value that people want, where it is said beside the roles.

        >>> model = StandardFairnessModel(
        ...     protected="race", reference="White", comparison="Black", outcome="rejected")
        >>> model.wanting(0).favorable
        0
        """
        if favorable is None or self.favorable == favorable:
            return self
        if self.favorable is not None:
            raise RoleError(
                f"favorable is said twice: {self.favorable!r} with the roles and {favorable!r} "
                "beside them; leave out one of the two"
            )
        return replace(self, favorable=favorable)

    @property
    def protected_columns(self) -> tuple[str, ...]:
        """Which columns make up the protected attribute? Always a tuple."""
        return (self.protected,) if isinstance(self.protected, str) else tuple(self.protected)

    @property
    def prediction_column(self) -> str | None:
        """Which column holds the prediction, if it is a column?"""
        return self.prediction if isinstance(self.prediction, str) else None

    @property
    def predict(self) -> Callable[[Any], Any] | None:
        """Which function makes the prediction, if it is a function?"""
        return None if isinstance(self.prediction, str) else self.prediction

    @property
    def role_columns(self) -> tuple[str, ...]:
        """Which columns must the data have? Each once, in the order of the roles."""
        return tuple(column for columns in self._columns_by_role().values() for column in columns)

    @property
    def reference_label(self) -> str:
        """What is the reference group called in text?"""
        return self.group_label(self.reference)

    @property
    def comparison_label(self) -> str:
        """What is the comparison group called in text?"""
        return self.group_label(self.comparison)

    def group_label(self, value: Any) -> str:
        """What is a group called in text?

        >>> model = StandardFairnessModel(
        ...     protected=["race", "sex"], reference=("White", "Male"),
        ...     comparison=("Black", "Female"), outcome="hired")
        >>> model.group_label(("Black", "Female")), model.group_label(None)
        ('Black, Female', 'everyone else')
        """
        if value is None:
            return EVERYONE_ELSE
        values = value if isinstance(value, tuple) else (value,)
        return ", ".join(
            f"{each:.15g}" if isinstance(each, float | bool) else str(each) for each in values
        )

    def describe(self) -> str:
        """What does the model say, in plain words? A few lines of text.

        >>> print(StandardFairnessModel(
        ...     protected="sex", reference="Male", comparison="Female", outcome="income",
        ...     outcome_value=">50K", prediction="score", left_out=["fnlwgt"]).describe())
        Female compared with Male (sex): a change from Male to Female.
          protected    sex
          confounders  none
          mediators    none
          outcome      income (counts as 1 where it is '>50K')
          prediction   score
          left out     fnlwgt - neither a confounder nor a mediator
        """
        attribute = ", ".join(self.protected_columns)
        reference, comparison = self.reference_label, self.comparison_label
        lines = [
            f"{comparison} compared with {reference} ({attribute}): "
            f"a change from {reference} to {comparison}.",
            f"  protected    {attribute}",
            "  confounders  "
            + _listing(
                self.confounders, f"not caused by {attribute}, may share hidden causes with it"
            ),
            "  mediators    "
            + _listing(self.mediators, f"may be caused by {attribute} and the confounders"),
        ]
        if self.outcome is not None:
            label = self.outcome_value
            counts = "" if label is None else f" (counts as 1 where it is {label!r})"
            lines.append(f"  outcome      {self.outcome}{counts}")
        if self.prediction is not None:
            made = "a function of the columns above"
            lines.append(f"  prediction   {self.prediction_column or made}")
        if self.favorable is not None:
            lines.append(f"  favorable    {self.favorable!r} - what people want")
        if self.weights is not None:
            lines.append(f"  weights      {self.weights}")
        if self.left_out:
            remark = "neither a confounder nor a mediator"
            lines.append(f"  left out     {_listing(self.left_out, remark)}")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.describe()

    def _columns_by_role(self) -> dict[str, tuple[str, ...]]:
        single = {
            "outcome": self.outcome,
            "prediction": self.prediction_column,
            "weights": self.weights,
        }
        return {
            "protected": self.protected_columns,
            "confounders": tuple(self.confounders),
            "mediators": tuple(self.mediators),
        } | {role: () if column is None else (column,) for role, column in single.items()}

    def _group_value(self, group: str) -> Any:
        """The value as it is stored: bare for one column given by name, else a tuple."""
        value = getattr(self, group)
        if value is None:
            return None
        columns = self.protected_columns
        values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
        if len(values) != len(columns):
            raise RoleError(
                f"{group} has {_count(len(values), 'value')} ({self.group_label(values)}) and "
                f"protected has {_count(len(columns), 'column')} ({', '.join(columns)}); "
                "give one value for each protected column"
            )
        for column, one in zip(columns, values, strict=True):
            if one is None or _is_missing(one):
                raise RoleError(
                    f"{group} has a missing value for {column!r}; people without a recorded "
                    "value are no group to compare: name a value of the column"
                )
        return values[0] if isinstance(self.protected, str) else values


def _columns(role: str, columns: Any) -> tuple[str, ...]:
    """The columns of a role as a tuple; sets are sorted, so that the order is always the same."""
    series = hasattr(columns, "to_frame") or (role == "protected" and hasattr(columns, "dtype"))
    if series and not hasattr(columns, "get_indexer"):  # names may come as an index
        raise RoleError(_no_name(role, columns))
    if isinstance(columns, (str, bytes)):
        raise RoleError(f"{role} is a list of names, got the text {columns!r}; write [{columns!r}]")
    if not isinstance(columns, Iterable):
        raise RoleError(f"{role} is a list of columns, got {columns!r}; write [] for none")
    if isinstance(columns, (set, frozenset)):
        return tuple(sorted(columns))
    return tuple(columns)


def _check_targets(outcome: object, prediction: object) -> None:
    if outcome is None and prediction is None:
        raise RoleError("the model has neither an outcome nor a prediction; name at least one")
    if prediction is None or isinstance(prediction, str) or callable(prediction):
        return
    hint = "; pass its predict function" if hasattr(prediction, "predict") else ""
    raise RoleError(
        f"prediction is a column or a function of a frame, got {type(prediction).__name__}{hint}"
    )


def _check_distinct(columns_by_role: dict[str, tuple[str, ...]]) -> None:
    role_of: dict[str, str] = {}
    for role, columns in columns_by_role.items():
        if role == "protected" and not columns:
            raise RoleError("protected names no column; name at least one")
        for column in columns:
            if hasattr(column, "dtype") and not isinstance(column, str):
                raise RoleError(_no_name(role, column))
            if not isinstance(column, str) or not column:
                raise RoleError(
                    f"{role} names the column {column!r}; expected text that is not empty"
                )
            if role_of.get(column) == role:
                raise RoleError(f"{role} names the column {column!r} twice; name it once")
            if column in role_of:
                raise RoleError(
                    f"the column {column!r} has two roles, {role_of[column]} and {role}; "
                    "every column has one role: remove it from one of them"
                )
            role_of[column] = role


def _no_name(role: str, values: Any) -> str:
    return (
        f"{role} holds values ({type(values).__name__}); expected the name of a column: put the "
        "values into the data as a column, and give its name"
    )


def _is_missing(value: Any) -> bool:
    """NaN and its relatives: not equal to themselves, or unable to say."""
    try:
        return bool(value != value)
    except (TypeError, ValueError):
        return True


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _listing(columns: Sequence[str], remark: str) -> str:
    return f"{', '.join(columns)} - {remark}" if columns else "none"


def graph_of_roles(model: StandardFairnessModel) -> CausalGraph:
    """Group and confounders cause every mediator, and mediators may share hidden causes."""
    causes = (*model.protected_columns, *model.confounders)
    return CausalGraph.from_edges(
        product(causes, model.mediators),
        [*product(model.protected_columns, model.confounders), *combinations(model.mediators, 2)],
        (*causes, *model.mediators),
    )
