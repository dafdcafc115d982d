"""Removes private data from the description of a movie (moov) and its fragments (moof), box by box.

These are user data and metadata (places, devices, titles), times of recording, names of handlers, paths of referenced
files, and all tracks but pictures and sound, in which cameras record positions, motion and captions.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from imagehost.examining.stripping import isobmff_samples as samples
from imagehost.examining.stripping.boxes import Box, children, clean_colors, discard
from imagehost.examining.stripping.isobmff_samples import Coverage, Defaults, Run
from imagehost.examining.stripping.nal_units import Layout, Units
from imagehost.examining.stripping.rewriting import Malformed, Overwrites, Source

_KEPT = {
    b"moov": b"mvhd trak mvex iods pssh ctab prfl",
    b"trak": b"tkhd edts tref mdia trgr tapt clip matt load",
    b"mdia": b"mdhd hdlr minf elng",
    b"minf": b"vmhd smhd hmhd nmhd sthd gmhd dinf stbl hdlr",
    b"dinf": b"dref",
    b"dref": b"url  urn  alis rsrc",
    b"stbl": b"stsd stts ctts cslg stsc stsz stz2 stco co64 stss stsh stps sdtp stdp padb sbgp sgpd csgp subs "
    b"saiz saio senc",
    b"tref": b"auxl sync vdep vplx dpnd scal sbas prem thmb fall adda",
    b"moof": b"mfhd traf pssh",
    b"mvex": b"mehd trex leva trep",
    b"mfra": b"tfra mfro",
    b"traf": b"tfhd tfdt trun sbgp sgpd csgp subs saiz saio senc",
}
_KEPT_OF = {kind: {names[i : i + 4] for i in range(0, len(names), 5)} for kind, names in _KEPT.items()}
_PICTURE_OR_SOUND = {b"vide", b"soun", b"auxv", b"pict"}
_DATED = {b"mvhd", b"tkhd", b"mdhd"}
_CONTAINERS = {b"mdia", b"minf", b"dinf", b"stbl", b"tref"}  # of a track
_ENTRIES = 8  # bytes of version, flags and count before the entries of dref and stsd
_VISUAL = 78  # bytes of a sample entry of pictures before its boxes
HANDLER_NAME = 24  # bytes of hdlr before the name


@dataclass
class Movie:
    """The tracks of a film. `kept`, `removed`: their ids; `coverage`: the bytes of kept samples.

    `layouts`: of H.264 and HEVC, by the numbers of the track and of the sample entry.
    """

    coverage: Coverage
    units: Units
    kept: set[int] = field(default_factory=set)
    removed: set[int] = field(default_factory=set)
    defaults: dict[int, Defaults] = field(default_factory=dict)
    layouts: dict[int, dict[int, Layout]] = field(default_factory=dict)

    def keep(self, run: Run, track: int) -> None:
        """Keep the bytes of samples but their user data."""
        self.coverage.add(run.start, run.end)
        if layout := self.layouts.get(track, {}).get(run.entry):
            self.units.samples(run, layout)


def blank_private(source: Source, blank: Overwrites, moov: Box, movie: Movie) -> None:
    """Add what is in the tracks to `movie`."""
    for box in _kept(source, blank, moov, moov.body):
        if box.kind == b"mvhd":
            _blank_times(source, blank, box)
        elif box.kind == b"trak":
            _track(source, blank, box, movie)
        elif box.kind == b"mvex":
            for part in _kept(source, blank, box, box.body):
                if part.kind == b"trex":
                    track, entry, _, size = (source.number(part.body + at, 4) for at in (4, 8, 12, 16))
                    movie.defaults[track] = Defaults(entry, size)
    if not movie.kept:
        raise Malformed("has neither picture nor sound")


def blank_fragment(source: Source, blank: Overwrites, moof: Box, movie: Movie) -> None:
    """Discard the fragments of removed and unknown tracks; add the remaining samples to the coverage.

    Some count from where the one before ends: without that one these count from the moof.
    """
    behind = behind_kept = moof.start
    for traf in _kept(source, blank, moof, moof.body):
        if traf.kind != b"traf":
            continue
        inside = list(children(source, traf.body, traf.end, blank))
        tfhd = _first(inside, b"tfhd", traf)
        truns = [box for box in inside if box.kind == b"trun"]
        found = samples.fragment(source, tfhd, movie.defaults, moof=moof.start, behind=behind)
        stays = found.track in movie.kept
        if not stays:
            discard(blank, traf)
        elif found.track in movie.removed:
            raise Malformed(f"two tracks of the number {found.track}")
        else:
            _only_listed(blank, inside, traf)
            if found.follows and behind != behind_kept and truns:
                samples.count_from_moof(source, blank, tfhd, truns, by=behind - moof.start)
        for run in samples.of_fragment(source, found, truns):
            behind = run.end
            if stays:
                behind_kept = behind
                movie.keep(run, found.track)
            else:
                movie.coverage.mark(run.start)


def blank_index(source: Source, blank: Overwrites, index: Box, movie: Movie) -> None:
    """Discard an index of segments (sidx), or the tables of random access in mfra, of removed tracks."""
    if index.kind == b"sidx":
        if source.number(index.body + 4, 4) in movie.removed - movie.kept:
            discard(blank, index)
        return
    for box in _kept(source, blank, index, index.body):
        if box.kind == b"tfra" and source.number(box.body + 4, 4) not in movie.kept:
            discard(blank, box)


def _kept(source: Source, blank: Overwrites, parent: Box, start: int) -> list[Box]:
    """Discard the children that are not listed; return the rest."""
    return _only_listed(blank, list(children(source, start, parent.end, blank)), parent)


def _only_listed(blank: Overwrites, found: list[Box], parent: Box) -> list[Box]:
    for box in found:
        if box.kind not in _KEPT_OF[parent.kind]:
            if box.kind == b"cmov":
                raise Malformed("a compressed movie header")
            discard(blank, box)
    return [box for box in found if box.kind in _KEPT_OF[parent.kind]]


def _track(source: Source, blank: Overwrites, trak: Box, movie: Movie) -> None:
    media = _child(source, trak, b"mdia")
    handler = source.exactly(_child(source, media, b"hdlr").body + 8, 4)
    tables = _child(source, _child(source, media, b"minf"), b"stbl")
    header = next((box for box in children(source, trak.body, trak.end) if box.kind == b"tkhd"), None)
    identity = 0  # by which fragments name the track; 0 without a header, as in players
    if header:
        identity = source.number(header.body + (20 if source.number(header.body, 1) == 1 else 12), 4)
    if handler not in _PICTURE_OR_SOUND:
        movie.removed.add(identity)
        for run in samples.of_tables(source, tables):
            movie.coverage.mark(run.start)
        discard(blank, trak)
        return
    movie.kept.add(identity)
    _samples(source, tables, movie, identity, is_sound=handler == b"soun")
    _clean(source, blank, trak)


def _clean(source: Source, blank: Overwrites, parent: Box) -> None:
    """Clean a track, or a container in it: times, names of handlers, profiles, references, and what is not listed."""
    for box in _kept(source, blank, parent, parent.body):
        if box.kind in _DATED:
            _blank_times(source, blank, box)
        elif box.kind == b"hdlr":
            blank.fill(box.body + HANDLER_NAME, box.end)
        elif box.kind == b"dref":  # the flags of an entry mean "this file"; paths and addresses of others go
            for entry in _kept(source, blank, box, box.body + _ENTRIES):
                blank.fill(entry.body + 4, entry.end)
        elif box.kind == b"stsd":
            _clean_profiles(source, blank, box)
        elif box.kind in _CONTAINERS:
            _clean(source, blank, box)


def _clean_profiles(source: Source, blank: Overwrites, stsd: Box) -> None:
    """Clean the profiles in the sample entries of pictures; no decoder finds one behind a broken box."""
    try:
        for entry in children(source, stsd.body + _ENTRIES, stsd.end):
            for box in children(source, entry.body + _VISUAL, entry.end):
                if box.kind == b"colr":
                    clean_colors(source, blank, box)
    except Malformed:
        return


def _samples(source: Source, tables: Box, movie: Movie, track: int, *, is_sound: bool) -> None:
    in_bytes, sizes = 0, []
    for box in children(source, tables.body, tables.end):
        if box.kind == b"stsd" and is_sound:
            in_bytes = samples.bytes_of_sound(source, box)
        elif box.kind == b"stsd":
            movie.layouts.setdefault(track, movie.units.entries(box))
        elif box.kind == b"stsz" and is_sound:
            sizes.append(source.number(box.body + 4, 4))
    size = sizes[0] if sizes else 0  # the one of all samples, which in QuickTime's sound may not be in bytes; 0: differ
    for run in samples.of_tables(source, tables):
        if size:  # perhaps not in bytes
            length = (run.end - run.start) // size * max(size, in_bytes)
            movie.coverage.add_open(run.start, run.start + length if in_bytes else None)
        else:
            movie.keep(run, track)


def _blank_times(source: Source, blank: Overwrites, box: Box) -> None:
    """Blank the creation and modification times, which follow version and flags."""
    version = source.number(box.body, 1)
    length = 16 if version == 1 else 8
    if box.body + 4 + length > box.end:
        raise Malformed(f"a header without its fields at byte {box.start}")
    blank.fill(box.body + 4, box.body + 4 + length)


def _child(source: Source, parent: Box, kind: bytes) -> Box:
    return _first(children(source, parent.body, parent.end), kind, parent)


def _first(boxes: Iterable[Box], kind: bytes, parent: Box) -> Box:
    for box in boxes:
        if box.kind == kind:
            return box
    raise Malformed(f"no {kind.decode()} in the box at byte {parent.start}")
