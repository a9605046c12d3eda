"""Many calls at once in plain threads: bounded, ended by the first error, usable in a kernel."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

from mtrlib.progress import track


class Stopped(Exception):
    """The batch was ended elsewhere; raised inside ``work``, it is no error of its own."""


def run_batch(
    items: Sequence[str],
    work: Callable[[str], None],
    *,
    label: str,
    workers: int,
    stop: threading.Event,
) -> None:
    """Do ``work`` on every item; the first error ends the batch and is raised.

    An error, and an interrupt as well, sets ``stop`` and begins no further item; the calls
    under way are paid for, so they end first. No event loop is involved: a notebook's kernel
    runs one already, and only threads work beside it however often.

    Parameters
    ----------
    work : looks at ``stop`` and raises :class:`Stopped` where it finds it set.
    label : what the progress line is about.
    workers : items under way at once.
    """

    def one(item: str) -> None:
        try:
            work(item)
        except Stopped:
            return
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(workers, "mtr-llm") as pool:
        futures = [pool.submit(one, item) for item in items]
        try:
            for done in track(as_completed(futures), label, len(futures)):
                done.result()
        except BaseException:
            stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
