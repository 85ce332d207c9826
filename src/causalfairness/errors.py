"""What can go wrong? Everything the package raises on purpose, one name each.

Catch `CausalFairnessError` to catch them all. A message says what was found, what was
expected and what to do next.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

EXTRAS = {  # what is imported from each optional part of the installation
    "fast": ("numba",),
    "graphs": ("networkx",),
    "plots": ("matplotlib",),
    "torch": ("torch",),
    "imaging": ("torch", "monai", "einops", "PIL", "pydicom"),
}


class CausalFairnessError(Exception):
    """What do all errors of this package have in common? Catch this one to catch them all.

    >>> import causalfairness as cf
    >>> try:
    ...     cf.CausalGraph.parse("a -> b; b -> a")
    ... except cf.errors.CausalFairnessError as error:
    ...     print(type(error).__name__)
    CycleError
    """

    def about(self, people: str) -> Self:
        """Return this error with what it knows about single people as a note.

        A traceback shows notes; the message, which goes into records and pages, is without them.

        >>> str(CausalFairnessError("a value is not finite").about("row 7 has nan"))
        'a value is not finite'
        """
        self.add_note(people)
        return self


class GraphSyntaxError(CausalFairnessError):
    """The text of a causal graph cannot be read."""


class CycleError(CausalFairnessError):
    """The arrows of a causal graph lead back to where they started."""


class UnknownNodeError(CausalFairnessError):
    """A question names something that is not in the causal graph."""


class RoleError(CausalFairnessError):
    """The roles given to columns contradict each other."""


class NotIdentifiedError(CausalFairnessError):
    """Under the stated assumptions no amount of data answers the question."""


class SourceError(CausalFairnessError):
    """The data cannot be opened, or is of a kind that is not understood."""


class ColumnNotFoundError(CausalFairnessError):
    """A column with a role is not in the data."""


class GroupNotFoundError(CausalFairnessError):
    """The reference or the comparison group has no rows in the data."""


class ColumnTypeError(CausalFairnessError):
    """A column holds values that its role has no use for."""


class OutcomeError(CausalFairnessError):
    """The outcome is neither binary nor numeric, or it never varies."""


class ConstantPredictionError(OutcomeError):
    """The prediction is the same for everyone, so there is no error-rate gap to explain."""


class WeightError(CausalFairnessError):
    """Row weights must be numbers, none negative, not all zero in a group."""


class MissingValuesError(CausalFairnessError):
    """Role columns have missing values and no policy for them was declared."""


class OverlapError(CausalFairnessError):
    """Some people have (almost) no counterpart in the other group."""


class SmallGroupError(OverlapError):
    """A group has too few people to stand in for others, however well they overlap."""


class EmptyCellsError(OverlapError):
    """Combinations of mediators and confounders are seen in one group only."""


class MixedBasisError(CausalFairnessError):
    """Two effects from different data, or different resamples, were combined."""


class RoleColumnError(CausalFairnessError):
    """A column with a role says nothing that an answer could stand on, as a copy of the outcome."""


class GroupColumnError(RoleColumnError, EmptyCellsError):
    """A confounder tells the group, so that nobody in the other group is like anybody."""


class PredictorError(CausalFairnessError):
    """The audited model cannot be evaluated on the role columns."""


class LearnerError(CausalFairnessError):
    """A learner cannot do what an estimator needs from it."""


class DatasetError(CausalFairnessError):
    """A bundled data set is unknown, damaged, or was asked for in an unknown form."""


class MechanismError(CausalFairnessError):
    """A mechanism cannot describe its node, or cannot have produced what was observed."""


class TooFewRowsError(CausalFairnessError):
    """There are fewer rows than a mechanism needs to be learned."""


class InterventionError(CausalFairnessError):
    """An intervention cannot be carried out on this data."""


class TrustError(CausalFairnessError):
    """A file holds objects that can run code, and nobody said that it is to be trusted."""


class PathError(CausalFairnessError):
    """An arrow or a path that was asked about is not in the graph, or leads nowhere."""


class NeighborError(CausalFairnessError):
    """Neighbors cannot be found: people cannot be compared, or the question is not well put."""


class SituationError(CausalFairnessError):
    """A situation test cannot be carried out: too few people, or tables that do not fit."""


class NotInstalledError(CausalFairnessError, ImportError):
    """A library of an extra is needed and not installed; the message says what to install."""


class TorchNotInstalledError(NotInstalledError):
    """Networks are asked with torch, or radiographs handled, and a library is not installed."""


@contextmanager
def extra(name: str, purpose: str) -> Iterator[None]:
    """Are the libraries of this extra there? One that cannot be imported is named, and the extra.

    >>> with extra("plots", "pictures are drawn with"):
    ...     raise ModuleNotFoundError(name="matplotlib.axes")
    Traceback (most recent call last):
    ...
    causalfairness.errors.NotInstalledError: pictures are drawn with matplotlib, which is not ...
    """
    try:
        yield
    except ModuleNotFoundError as cause:
        library = (cause.name or "").partition(".")[0]
        if library not in EXTRAS[name]:
            raise
        error = TorchNotInstalledError if "torch" in EXTRAS[name] else NotInstalledError
        raise error(
            f'{purpose} {library}, which is not installed: pip install "causalfairness[{name}]"'
        ) from cause


class MediatorError(CausalFairnessError):
    """Nothing says how the mediators follow the protected input, or it cannot be used."""


class NecessityError(CausalFairnessError):
    """A question about business necessity names paths that do not exist, or says too little."""


class InvarianceError(CausalFairnessError):
    """An invariance test cannot be carried out: groups or rows that cannot be compared."""


class RuleError(CausalFairnessError):
    """A rule file of a statistical screen cannot be read, or a screen does not fit its rule."""


class ImageError(CausalFairnessError):
    """Images have the wrong shape, size or range of values."""


class ParentsError(CausalFairnessError):
    """What is said about the people behind images does not fit the images or the network."""


class CheckpointError(CausalFairnessError):
    """A checkpoint cannot be read, or belongs to another configuration."""


class TrainingError(CausalFairnessError):
    """A network cannot be trained on: its loss is no longer a number, or too little is given."""


class SimulationError(CausalFairnessError):
    """A simulated radiograph was asked for that cannot be drawn."""


class ImageFileError(CausalFairnessError):
    """A file of an image collection is missing, damaged, or not in the published layout."""


class LabelError(CausalFairnessError):
    """A finding, or another label of an image, has a value that nobody declared."""


class DemographicsError(CausalFairnessError):
    """Two files, or two rows, say different things about the same person."""


class SplitError(CausalFairnessError):
    """People cannot be divided as asked: shares that do not add up, or a part without anyone."""


class SensitivityError(CausalFairnessError):
    """How far a hidden cause could move a result is not known: of another kind, or unknown."""


class AuditError(CausalFairnessError):
    """An audit file cannot be read, or says what no audit can mean."""


class RecordError(CausalFairnessError):
    """A record of an audit cannot be read, or cannot be compared."""


class NotWrittenError(CausalFairnessError, OSError):
    """A file cannot be written; what was there before is still there, whole."""

    def __str__(self) -> str:
        return f"{self.filename!r} is not written: {self.strerror}. Check the path and its rights"


class PictureError(CausalFairnessError):
    """A drawing holds more than shapes and letters, and is not put on a page."""
