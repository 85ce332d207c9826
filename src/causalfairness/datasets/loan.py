"""What does a biased bank look like? Made-up loan applications with their true counterfactuals.

The equations of the illustrative example of counterfactual situation testing (paper 001, §4.1),
with A = 1 for a woman:

    A       ~ Bern(share_female)
    salary  = U1 - 1500 Poisson(10) A,                     U1 ~ 10000 Poisson(10)
    balance = U2 + 0.3 salary - 300 chi2(4) A,             U2 ~ 2500 N(0, 1)
    approved = 1 if salary + 5 balance > 225000, else 0

The bank never looks at gender, yet gender reaches the decision through salary and balance. The
penalties Poisson(10) and chi2(4) are noise of the row like U1 and U2, drawn for everyone: they
apply if the row is told that it is a woman's.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from causalfairness.datasets.bundled import FrameName, as_frame
from causalfairness.errors import DatasetError

Array = NDArray[np.float64]

SHARE_FEMALE = 0.45


def make_loan_application(
    n: int, *, seed: int, share_female: float = SHARE_FEMALE, frame: FrameName = "pyarrow"
) -> Any:
    """Which applications does the bank receive, and which does it approve?

    `share_female` is 0.45 as the paper states; in the file published with it 1,712 of 4,993
    applicants are women, a share of 0.343. The file also lacks seven of its 5,000 rows; here no
    row is left out, so a salary or a balance may be negative (about 1 in 1,000).

    >>> make_loan_application(3, seed=0, frame="pandas").round()
       gender  annual_salary  account_balance  approved
    0    Male       150000.0          45235.0         1
    1  Female       111000.0          31037.0         1
    2  Female        83500.0          21864.0         0
    """
    noise = _noise(n, seed, share_female)
    return as_frame(_applications(noise.female, noise), frame)


def make_loan_application_counterfactual(
    n: int,
    *,
    seed: int,
    do: str = "Male",
    share_female: float = SHARE_FEMALE,
    frame: FrameName = "pyarrow",
) -> Any:
    """What would the same applications be if every applicant had the gender `do`?

    Row i belongs to row i of `make_loan_application` with the same n, seed and share.

    >>> facts = make_loan_application(1_000, seed=0, frame="pandas")
    >>> otherwise = make_loan_application_counterfactual(1_000, seed=0, do="Male", frame="pandas")
    >>> men = facts["gender"] == "Male"
    >>> bool((facts[men] == otherwise[men]).all(axis=None))
    True
    >>> bool((facts["annual_salary"] <= otherwise["annual_salary"]).all())
    True
    """
    if do not in ("Female", "Male"):
        raise DatasetError(f"no applicant is {do!r}; say do='Male' or do='Female'")
    noise = _noise(n, seed, share_female)
    return as_frame(_applications(np.full(n, do == "Female"), noise), frame)


class _Noise(NamedTuple):
    female: NDArray[np.bool_]
    salary: Array
    salary_penalty: Array
    balance: Array
    balance_penalty: Array


def _noise(n: int, seed: int, share_female: float) -> _Noise:
    if not 0 < share_female < 1:
        raise DatasetError(f"share_female is {share_female}; expected a share between 0 and 1")
    rng = np.random.default_rng(seed)
    return _Noise(
        female=rng.random(n) < share_female,
        salary=np.asarray(10_000.0 * rng.poisson(10, n), dtype=float),
        salary_penalty=np.asarray(1_500.0 * rng.poisson(10, n), dtype=float),
        balance=2_500.0 * rng.standard_normal(n),
        balance_penalty=300.0 * rng.chisquare(4, n),
    )


def _applications(female: NDArray[np.bool_], noise: _Noise) -> dict[str, NDArray[Any]]:
    salary = noise.salary - noise.salary_penalty * female
    balance = noise.balance + 0.3 * salary - noise.balance_penalty * female
    return {
        "gender": np.where(female, "Female", "Male"),
        "annual_salary": salary,
        "account_balance": balance,
        "approved": (salary + 5 * balance > 225_000).astype(np.int64),
    }
