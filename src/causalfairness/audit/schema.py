"""What does an audit say? A whole study as a file: data, roles, questions and settings.

The schema is closed: a key that it does not know is refused, with the nearest one that it does.
Nothing here is estimated. `Audit.run` hands the study to `running`.
"""

from __future__ import annotations

import json
import os
import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import (
    BeforeValidator,
    ModelWrapValidatorHandler,
    PrivateAttr,
    ValidationError,
    model_validator,
)

from causalfairness.audit.plain import is_deep
from causalfairness.audit.questions import Question, columns_of
from causalfairness.audit.sections import (
    DataSource,
    EstimatorChoice,
    Groups,
    PredictorChoice,
    Roles,
    SensitivityChoice,
    Settings,
    not_loaded,
)
from causalfairness.errors import AuditError
from causalfairness.fairness_model import HIGHER, LOWER, StandardFairnessModel
from causalfairness.settings import Closed, Texts, refusal_of, said

if TYPE_CHECKING:
    from causalfairness.audit.result import AuditResult

LARGEST = 10_000_000  # bytes of a file; no study takes as many words
BUNDLED = Path(__file__).parent / "files"


def _named(value: Any) -> Any:
    """A source alone stands for a table with nothing else in it."""
    return {"source": os.fspath(value)} if isinstance(value, str | os.PathLike) else value


class Audit(Closed):
    """What is to be found out about a decision system? A whole study, written down beforehand.

    `from_file` reads one from TOML or JSON; keywords make one in Python, with tables as
    dictionaries. Left out, `questions` are those that the roles allow. All that is wrong is said
    at once, in one `AuditError`.

    >>> import causalfairness as cf
    >>> audit = cf.Audit(
    ...     data="dataset:compas",
    ...     roles={"protected": "sex", "reference": "Male", "comparison": "Female",
    ...            "confounders": ["age_cat"], "outcome": "two_year_recid"},
    ...     questions=[{"ask": "disparity", "margin": 0.02}])
    >>> result = audit.run()
    >>> result.verdicts
    {'disparity of two_year_recid: Female against Male': 'violated'}
    """

    title: Annotated[str, said("text", max_length=1000)] = ""
    data: Annotated[DataSource | None, BeforeValidator(_named), said("a table with source")] = None
    roles: Annotated[Roles, said("a table with protected, reference and more")]
    groups: Annotated[Groups, said("a table")] = Groups()
    predictor: Annotated[PredictorChoice, said("a table")] = PredictorChoice()
    questions: Annotated[
        tuple[Question, ...], said("a list of tables with ask", max_length=200)
    ] = ()
    estimator: Annotated[EstimatorChoice, said("a table")] = EstimatorChoice()
    sensitivity: Annotated[SensitivityChoice, said("a table")] = SensitivityChoice()
    settings: Annotated[Settings, said("a table")] = Settings()
    notes: Annotated[Texts, said("a list of texts, each once")] = ()
    _beside: Path | None = PrivateAttr(default=None)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str]) -> Audit:
        """What does an audit file say? TOML, or JSON where the name ends in .json.

        Paths in it are taken from the folder that it lies in. A bundled audit goes by its name,
        `compas`, unless a file of that name is there.

        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = Path(folder, "audit.toml")
        ...     _ = file.write_text("data = 5")
        ...     Audit.from_file(file)
        Traceback (most recent call last):
        ...
        causalfairness.errors.AuditError: ...audit.toml is no audit:
          data: found 5; expected a table with source
          roles: is missing; expected a table with protected, reference and more
        """
        file = find_file(path)
        try:
            found = cls.__pydantic_validator__.validate_python(read_file(file), context="file")
        except ValidationError as error:
            raise AuditError(refusal_of(error, cls, f"{file} is no audit")) from None
        return found.found_in(file.resolve().parent)  # type: ignore[no-any-return]

    def run(
        self,
        data: Any = None,
        *,
        trust: bool = False,
        workers: int = 1,
        folder: str | os.PathLike[str] | None = None,
    ) -> AuditResult:
        """What are the answers? Asks one question after the other.

        `data` stands in for the source of the file: a pandas, polars or pyarrow table, a DuckDB
        relation, or a path. `trust=True` lets a function or a saved model run. With a `folder`,
        finished questions are kept there, and a run that was interrupted does not ask them again.
        The answers do not depend on `workers`.

        >>> import causalfairness as cf
        >>> world = cf.datasets.worlds.binary()
        >>> audit = cf.Audit(roles={
        ...     "protected": "group", "reference": "blue", "comparison": "green",
        ...     "confounders": ["c1", "c2"], "mediators": ["m1"], "outcome": "y"})
        >>> result = audit.run(world.draw(2_000, seed=0))
        >>> [answer["status"] for answer in result.record["answers"]]
        ['answered', 'answered']
        """
        from causalfairness.audit.running import run_audit

        return run_audit(self, data, trust=trust, workers=workers, folder=folder)

    @property
    def asked(self) -> tuple[Any, ...]:
        """Which questions are asked? Those listed, or those that the roles allow."""
        from causalfairness.audit.defaults import usual_questions

        return self.questions or usual_questions(self)

    @property
    def columns(self) -> tuple[str, ...]:
        """Which columns must the data have? Those with a role, and those that are named."""
        model = self.roles.model(self.roles.prediction or not_loaded)
        named = [name for question in self.asked for name in columns_of(question)]
        if self.data is not None:
            read = self.data
            named += [*read.columns, *read.categorical, *read.numeric, *read.accept]
        return tuple(dict.fromkeys((*model.role_columns, *named, *self.predictor.columns)))

    def model(self, prediction: Any) -> StandardFairnessModel:
        """Which model do the roles make, with this prediction, and what people want?"""
        side = {0: LOWER, 1: HIGHER, None: None}[self.predictor.favorable]
        model = self.roles.model(prediction)
        return model if model.favorable is not None else model.wanting(side)

    @property
    def beside(self) -> Path:
        """From which folder are paths taken? That of the file, or the one we are in."""
        return Path() if self._beside is None else self._beside

    def found_in(self, folder: Path) -> Self:
        """What is the audit, if paths in it start in this folder?"""
        other = self.model_copy()
        other._beside = folder
        return other

    def to_dict(self) -> dict[str, Any]:
        """What does the audit say, as plain data?

        >>> Audit(roles={"protected": "sex", "reference": "M", "outcome": "y"}).to_dict()["notes"]
        []
        """
        return self.model_dump(mode="json")

    @model_validator(mode="wrap")
    @classmethod
    def _read(cls, value: Any, handler: ModelWrapValidatorHandler[Self], info: Any) -> Self:
        if info.context == "file":
            return handler(value).checked()
        try:
            return handler(value).checked()
        except ValidationError as error:
            raise AuditError(refusal_of(error, cls, "this is no audit")) from None

    def checked(self) -> Self:
        """Do the sections fit each other? Refused where they do not."""
        from causalfairness.audit.defaults import contradictions

        weights = None if self.data is None else self.data.weights
        if weights is not None and self.roles.weights is None:  # said once, used as a role
            roles = self.roles.model_copy(update={"weights": weights})
            object.__setattr__(self, "roles", roles)
        found = [*contradictions(self)]
        if found:
            listed = "\n".join(f"  {problem}" for problem in found)
            raise AuditError(f"the audit contradicts itself:\n{listed}")
        return self


def find_file(name: str | os.PathLike[str]) -> Path:
    """Where is this audit? A file, or a bundled one by its name where no such file is there.

    >>> find_file("compas").name, find_file("my/audit.toml").name
    ('compas.toml', 'audit.toml')
    >>> find_file("compass")
    Traceback (most recent call last):
    ...
    causalfairness.errors.AuditError: there is no file 'compass', and no bundled audit of that ...
    """
    file = Path(name)
    if file.suffix or file.is_file() or file != Path(file.name):
        return file
    bundled = BUNDLED / f"{file.name}.toml"
    if bundled.is_file():
        return bundled
    names = ", ".join(sorted(each.stem for each in BUNDLED.glob("*.toml")))
    raise AuditError(
        f"there is no file {str(file)!r}, and no bundled audit of that name; bundled: {names}. "
        "Name a .toml or .json file, or a bundled audit"
    )


def read_file(path: Path) -> Any:
    """What does the file hold? Dates become text, as JSON has them.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "audit.toml")
    ...     _ = file.write_text("title = \\n")
    ...     read_file(file)
    Traceback (most recent call last):
    ...
    causalfairness.errors.AuditError: ...audit.toml is not TOML: Invalid value (at line 1, column 9)
    """
    text = _text(path)
    if path.suffix.lower() == ".json":
        return _parsed(lambda: json.loads(text), path, "JSON")
    return _plain(_parsed(lambda: tomllib.loads(text), path, "TOML"))


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > LARGEST:
            raise AuditError(f"{str(path)!r} has more than {LARGEST:,} bytes; is it an audit?")
        return path.read_text("utf-8-sig")
    except UnicodeDecodeError as cause:
        raise AuditError(
            f"{str(path)!r} is not text in UTF-8: {cause.reason} at byte {cause.start}; save it "
            "as UTF-8"
        ) from None
    except (OSError, ValueError) as cause:
        why = getattr(cause, "strerror", None) or cause
        raise AuditError(f"the audit file {str(path)!r} cannot be read: {why}") from None


def _parsed(parse: Any, path: Path, kind: str) -> Any:
    try:
        found = parse()
        if is_deep(found):
            raise RecursionError
        return found
    except json.JSONDecodeError as cause:
        raise AuditError(
            f"{str(path)!r} is not {kind}: {cause.msg} (at line {cause.lineno}, column "
            f"{cause.colno})"
        ) from None
    except ValueError as cause:  # of tomllib, which says where; or a number of too many digits
        raise AuditError(f"{path} is not {kind}: {cause}") from None
    except RecursionError:
        raise AuditError(
            f"{path} is not {kind} that can be read: brackets are nested too deep"
        ) from None


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.isoformat() if isinstance(value, date | datetime | time) else value
