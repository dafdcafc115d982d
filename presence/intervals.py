"""Intervals and timeouts of the gateway worker, in seconds unless another unit is named."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Intervals:
    """The defaults of production; tests use shorter ones."""

    flush: float = 0.02
    flush_size: int = 500  # members that were changed
    dump_size: int = 2000  # members of a dump, written at once
    after_store_error: float = 0.5
    stamp: float = 1.0  # while nothing changes; with changes twice as often
    lease: float = 1.0
    leader_not_ready: float = 5.0  # then it gives the lease back
    look: float = 0.1  # at what is to be asked of the platform
    chunk_patience: float = 30.0  # without a chunk while some are missing
    reconcile_again: float = 86_400.0
    quiet: float = 5.0  # of silence, before the platform is asked whether it is there
    silence: float = 10.0  # then it is not
    standstill: float = 5.0  # of this process: buffered events may be too old by then
    lookups: float = 2.0  # between two questions for some members
    lookup_patience: float = 10.0
    asked: float = 1.0  # readers' wishes
    offline_at: float = 5.0
    forget: float = 10.0  # what another worker writes; longer than it takes to follow one that ends
    pictures: float = 5.0
    privacy: float = 5.0
    stats: float = 5.0
    ending: float = 1.0  # for the last flush
    first_pause: float = 1.0  # between two whole new beginnings of the connection, growing
    longest_pause: float = 5.0  # nothing is counted before a session is asked for
    connect_patience: float = 8.0  # until a connection asks for one: with the pause, less than 15 after an outage
    lasting: float = 60.0  # a session of less is a short one
    free_sessions: int = 3  # short ones in a row, before a pause comes between their beginnings
    session_pause: float = 10.0  # the first of them, growing
    longest_session_pause: float = 300.0
    few_sessions_pause: float = 900.0  # where the day allows few more: so a hundred of them last for a day
