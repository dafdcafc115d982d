"""Colour boxes (`colr`, ISO/IEC 14496-12, 12.1.5) of pictures and tracks: cleans their profiles."""

from imagehost.examining.stripping import icc
from imagehost.examining.stripping.boxes import Box, children, discard
from imagehost.examining.stripping.rewriting import Malformed, Overwrites, Source

_PROFILES = {b"prof", b"rICC"}
_ENTRIES, _FIELDS = 8, 78  # bytes of stsd before its entries, and of a visual entry before its boxes


def clean(source: Source, blank: Overwrites, colr: Box) -> None:
    if source.read(colr.body, 4) not in _PROFILES:
        return
    profile = icc.cleaned(source.whole(colr.body + 4, colr.end, most=icc.LARGEST))
    if profile is None:
        discard(blank, colr)
    else:
        blank.put(colr.body + 4, profile)


def clean_entries(source: Source, blank: Overwrites, stsd: Box) -> None:
    """Clean the profiles in the sample entries of a track of pictures; no decoder finds one behind a broken box."""
    try:
        for entry in children(source, stsd.body + _ENTRIES, stsd.end):
            for box in children(source, entry.body + _FIELDS, entry.end):
                if box.kind == b"colr":
                    clean(source, blank, box)
    except Malformed:
        return
