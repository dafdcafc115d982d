"""Color profiles (ICC.1:2022): keeps what decides and names colors, and blanks everything else in place.

Systems write profiles of their owner's monitor into screenshots, with its maker, model and serial number (`mmod`,
`ndin`, `meta`, `targ`), the curves of its calibration (`vcgt`) and its name in many languages.
"""

import struct

LARGEST = 16 << 20  # bytes
_HEAD, _ENTRY = 132, struct.Struct(">4sII")  # the header with the count; of an entry: tag, start, length
_COLORS = frozenset(
    b"""A2B0 A2B1 A2B2 A2B3 B2A0 B2A1 B2A2 B2A3 D2B0 D2B1 D2B2 D2B3 B2D0 B2D1 B2D2 B2D3 rXYZ gXYZ bXYZ rTRC gTRC bTRC
    kTRC wtpt bkpt chad chrm cicp lumi gamt pre0 pre1 pre2 rig0 rig2 ciis meas view tech clro clrt clot ncl2""".split()
)
_LEGAL = frozenset({b"desc", b"cprt"})
_NAMES = frozenset({b"dscm", b"dmnd", b"dmdd", b"vued"})
_MONITOR = b"mntr"
_OF_A_DEVICE = (24, 36), (48, 56), (80, 84)  # in the header: date, maker and model, creator
_ID = (84, 100)
_NO_TEXT = {b"mluc": struct.pack(">II", 0, 12), b"desc": struct.pack(">I", 1)}  # by type; behind its signature


def cleaned(profile: bytes, *, only_colors: bool = False) -> bytes | None:
    """Return the profile without private tags, its length unchanged; None for one that decoders refuse.

    A monitor's profile with private tags is its owner's: it loses name, date, maker and model too. `only_colors`:
    without any text.
    """
    size = int.from_bytes(profile[:4], "big")
    if profile[36:40] != b"acsp" or not _HEAD <= size <= len(profile):
        return None
    count = int.from_bytes(profile[_HEAD - 4 : _HEAD], "big")
    if _HEAD + _ENTRY.size * count > size:
        return None
    entries = [_ENTRY.unpack_from(profile, _HEAD + _ENTRY.size * number) for number in range(count)]
    if any(start + length > size for _, start, length in entries):
        return None
    is_owners = profile[12:16] == _MONITOR and any(tag not in _COLORS | _LEGAL | _NAMES for tag, _, _ in entries)
    wanted = _COLORS if only_colors else _COLORS | _LEGAL if is_owners else _COLORS | _LEGAL | _NAMES
    new = bytearray(len(profile))
    new[: _HEAD - 4] = profile[: _HEAD - 4]
    for start, end in _OF_A_DEVICE if is_owners else ():
        new[start:end] = bytes(end - start)
    kept = [entry for entry in entries if entry[0] in wanted]
    new[_HEAD - 4 : _HEAD] = len(kept).to_bytes(4, "big")
    for number, (tag, start, length) in enumerate(kept):
        content = profile[start : start + length]
        if tag == b"desc" and is_owners:
            content = (content[:8] + _NO_TEXT.get(content[:4], b""))[:length].ljust(length, b"\x00")
        new[start : start + length] = content  # where it was
        _ENTRY.pack_into(new, _HEAD + _ENTRY.size * number, tag, start, length)
    if new != profile:
        new[slice(*_ID)] = bytes(16)
    return bytes(new)
