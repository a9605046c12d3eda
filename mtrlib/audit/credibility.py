"""One figure per benchmark: how many of its labels can be believed."""

from __future__ import annotations

from mtrlib.audit.estimates import Estimate
from mtrlib.audit.rates import share_interval
from mtrlib.errors import InputError

CREDIBILITY = (
    "share of labels (a gold passage of a turn; of turns, where each has one) that can be "
    "believed if the two kinds of error are independent"
)


def credibility(noise: Estimate, sparsity: Estimate, *, confidence: float) -> Estimate:
    """``(1 - noise) * (1 - sparsity)``: the labels that can be believed.

    Plainly: the share of labels that can be believed *if the two kinds of error are
    independent*. A label is a gold passage of a turn; with one gold passage a turn this is
    the share of turns. If errors gather on the same turns the figure is too low, if they
    avoid each other too high.

    Parameters
    ----------
    noise, sparsity : of one benchmark, with the same resamples and seed, so that the interval
        comes from joint resamples of conversations.

    Raises
    ------
    InputError
        The two have different numbers of resamples.
    """
    if noise.samples.shape != sparsity.samples.shape:
        raise InputError(
            f"noise has {len(noise.samples)} resamples, sparsity {len(sparsity.samples)}. "
            "Mend: estimate both with the same resamples and seed."
        )
    samples = (1 - noise.samples) * (1 - sparsity.samples)
    value = (1 - noise.value) * (1 - sparsity.value)
    low, high = share_interval(value, samples, confidence)
    parts = (("noise", noise), ("sparsity", sparsity))
    why = "; ".join(f"{name}: {part.note}" for name, part in parts if part.note)
    return Estimate(
        value,
        low,
        high,
        (1 - noise.apparent) * (1 - sparsity.apparent),
        sparsity.n,
        sparsity.n_groups,
        noise.corrected and sparsity.corrected,
        f"{CREDIBILITY}; {why}" if why else CREDIBILITY,
        noise.n_missing + sparsity.n_missing,
        samples,
    )
