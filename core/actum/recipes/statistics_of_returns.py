"""Returns and risk of one price series, each formula once and with its source.

Prices are decimals. A simple return and a drawdown are ratios of prices, computed with DIGITS decimal digits. Statistics of
returns (mean, standard deviation) are float64: each return is converted to the nearest float64 first, and sums are exactly
rounded (`math.fsum`), so their order does not matter.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

DIGITS = 34
INSUFFICIENT = "insufficient_observations"
ZERO_VOLATILITY = "zero_volatility"


@dataclass(frozen=True)
class Missing:
    """Why there is no value: a metric's status and reason."""

    reason: str
    status: str = "unavailable"
    needed: int | None = None  # simple returns


@dataclass(frozen=True)
class Statistics:
    """What is known of one series. `observations` counts simple returns."""

    observations: int
    total_return: Decimal | Missing
    mean_return: float | Missing
    volatility: float | Missing
    annualised_volatility: float | Missing
    maximum_drawdown: Decimal | Missing
    return_per_risk: float | Missing


def ratio_less_one(later: Decimal, earlier: Decimal) -> Decimal:
    """R = P_t / P_(t−1) − 1, the simple net return (Campbell, Lo, MacKinlay: The Econometrics of Financial Markets, §1.4.1)."""
    with decimal.localcontext(decimal.Context(prec=DIGITS)):
        return later / earlier - 1


def simple_returns(prices: Sequence[Decimal | None]) -> list[float | None]:
    """The return at each price; None at the first and wherever this price or the one before it is missing."""
    found: list[float | None] = []
    before: Decimal | None = None
    for price in prices:
        known = price is not None and before is not None
        found.append(float(ratio_less_one(price, before)) if known else None)  # type: ignore[arg-type]
        before = price
    return found


def mean(values: Sequence[float]) -> float:
    """The arithmetic mean; raises ZeroDivisionError for no values."""
    return math.fsum(values) / len(values)


def deviation(values: Sequence[float]) -> float:
    """The standard deviation with n − 1 (Bessel's correction), in two passes; needs two values."""
    centre = mean(values)
    return math.sqrt(math.fsum((value - centre) ** 2 for value in values) / (len(values) - 1))


def annualised(deviation_per_period: float, periods_per_year: int) -> float:
    """σ·√k: the variances of k uncorrelated returns add up."""
    return deviation_per_period * math.sqrt(periods_per_year)


def maximum_drawdown(prices: Sequence[Decimal]) -> Decimal:
    """min over t of P_t / max over s ≤ t of P_s, less 1; 0 if the price never falls.

    The relative form of the drawdown in Magdon-Ismail, Atiya: Maximum Drawdown, Risk Magazine 2004.
    """
    peak, deepest = prices[0], Decimal(0)
    for price in prices:
        peak = max(peak, price)
        deepest = min(deepest, ratio_less_one(price, peak))
    return deepest


def statistics_of(prices: Sequence[Decimal | None], periods_per_year: int) -> Statistics:
    """All statistics of a series in the order of time; where there are too few returns, each says so."""
    returns = [value for value in simple_returns(prices) if value is not None]
    known = [price for price in prices if price is not None]
    few, fewer_than_two = Missing(INSUFFICIENT, needed=1), Missing(INSUFFICIENT, needed=2)
    count = len(returns)
    if count == 0:
        return Statistics(0, few, few, fewer_than_two, fewer_than_two, few, fewer_than_two)
    total, deepest, centre = ratio_less_one(known[-1], known[0]), maximum_drawdown(known), mean(returns)
    if count == 1:
        return Statistics(1, total, centre, fewer_than_two, fewer_than_two, deepest, fewer_than_two)
    spread = deviation(returns)
    per_year = annualised(spread, periods_per_year)
    # Sharpe, W. F.: The Sharpe Ratio, 1994, with a riskless rate of 0; without spread it has no meaning.
    per_risk = centre / spread * math.sqrt(periods_per_year) if spread else Missing(ZERO_VOLATILITY, "not_applicable")
    return Statistics(count, total, centre, spread, per_year, deepest, per_risk)
