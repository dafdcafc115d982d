"""How often the gateway worker does what; in seconds where nothing else is said."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pace:
    """The worker's constants. Tests have less patience."""

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
    lookups: float = 2.0  # between two questions for some members
    lookup_patience: float = 10.0
    asked: float = 1.0  # readers' wishes
    offline_at: float = 5.0
    forget: float = 10.0  # what another worker writes; longer than it takes to follow one that ends
    pictures: float = 5.0
    stats: float = 5.0
    ending: float = 1.0  # for the last flush
