"""How small is a chance, where it is too small for a float? Logarithms of p-values.

    log p = log P(Z > t)                     for a standard normal Z, one-sided
    log p = log P(F > f)                     for F with d1 and d2 degrees of freedom

A t statistic with d degrees of freedom, two-sided, is f = t^2 with (1, d).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainc, betaln, hyp2f1, log_ndtr

Array = NDArray[np.float64]
SMALLEST = 1e-250  # below, the tail is summed by its logarithm


def log_normal_tail(t: ArrayLike) -> Array:
    """How likely is a standard normal above t? The logarithm, which never underflows.

    >>> float(log_normal_tail(1000.0).round(1))
    -500007.8
    """
    return np.asarray(log_ndtr(-np.asarray(t, dtype=float)))


def log_f_tail(f: ArrayLike, between: ArrayLike, within: ArrayLike) -> Array:
    """How likely is an F statistic above f? The logarithm, which never underflows.

    >>> float(np.exp(log_f_tail(1.96**2, 1, 1e7)).round(3)), float(log_f_tail(1e9, 1, 99).round())
    (0.05, -801.0)
    """
    f, d1, d2 = (np.asarray(each, dtype=float) for each in (f, between, within))
    x, a, b = d2 / (d2 + d1 * f), d2 / 2, d1 / 2
    plain = betainc(a, b, x)
    far = np.minimum(x, 0.5)  # where the series is used, x is small
    leading = a * np.log(far) + b * np.log1p(-far) - np.log(a) - betaln(a, b)
    series = leading + np.log(hyp2f1(a + b, 1, a + 1, far))
    return np.asarray(np.where(plain > SMALLEST, np.log(np.maximum(plain, SMALLEST)), series))
