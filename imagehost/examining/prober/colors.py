"""Converts pictures to sRGB, in which previews are: wide gamuts and HDR, by LittleCMS. Runs in the confined child."""

import io
import math
import struct

from PIL import Image, ImageCms

_SRGB = ImageCms.createProfile("sRGB")
_WHITE = 203  # cd/m² of white paper in an HDR picture (ITU-R BT.2408)
_PQ, _HLG = 16, 18  # transfer characteristics (ITU-T H.273, table 3)
_SAME = {1, 6, 13, 14, 15}  # as sRGB shows them
_BT709 = 1
_PRIMARIES = {  # columns of red, green and blue, adapted to D50
    _BT709: ((0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708), (0.14307, 0.06061, 0.71410)),
    9: ((0.67346, 0.27903, -0.00194), (0.16566, 0.67534, 0.02998), (0.12510, 0.04563, 0.79686)),  # BT.2020
    12: ((0.51510, 0.24118, -0.00105), (0.29197, 0.69224, 0.04188), (0.15715, 0.06658, 0.78438)),  # P3 with D65
}
_D50 = (0.9642, 1.0, 0.8249)
_STEPS = 1024  # of a curve


def to_srgb(picture: Image.Image, profile: bytes | None) -> Image.Image:
    """Convert a picture in RGB or RGBA from the colors of `profile`; return it as it is where that is broken."""
    if not profile or profile[16:20] != b"RGB ":
        return picture
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        converted = ImageCms.profileToProfile(picture, source, _SRGB, outputMode=picture.mode)
    except (ImageCms.PyCMSError, OSError):
        return picture
    return converted or picture


def of_codes(primaries: int, transfer: int) -> bytes | None:
    """Return the profile of the colors of these code points (H.273); None where they are as in sRGB, or not known."""
    if primaries not in _PRIMARIES or transfer not in {_PQ, _HLG, *_SAME}:
        return None
    if primaries == _BT709 and transfer in _SAME:
        return None
    steps = (_shown(transfer, step / (_STEPS - 1)) for step in range(_STEPS))
    curve = struct.pack(f">4sII{_STEPS}H", b"curv", 0, _STEPS, *(round(65535 * value) for value in steps))
    columns = [_xyz(values) for values in (_D50, *_PRIMARIES[primaries])]
    tags = [*zip((b"wtpt", b"rXYZ", b"gXYZ", b"bXYZ"), columns, strict=True),
            *((tag, curve) for tag in (b"rTRC", b"gTRC", b"bTRC"))]  # fmt: skip
    table, body, start = b"", b"", 132 + 12 * len(tags)
    for tag, content in tags:
        table += struct.pack(">4sII", tag, start + len(body), len(content))
        body += content
    kind = b"mntrRGB XYZ ", b"acsp", _xyz(_D50)[8:]
    return struct.pack(">I4xI12s12x4s28x12s48xI", start + len(body), 0x02400000, *kind, len(tags)) + table + body


def _xyz(values: tuple[float, float, float]) -> bytes:
    return struct.pack(">4sI3i", b"XYZ ", 0, *(round(65536 * value) for value in values))


def _shown(transfer: int, value: float) -> float:
    """Return the light of a coded value, 1 for the brightest that a preview shows.

    What is brighter than paper is compressed; darker tones stay.
    """
    if transfer in _SAME:
        return value / 12.92 if value <= 0.04045 else float(((value + 0.055) / 1.055) ** 2.4)
    if transfer == _PQ:  # in cd/m² (SMPTE ST 2084)
        power = value ** (32 / 2523)
        base = max(power - 0.8359375, 0) / (18.8515625 - 18.6875 * power)
        light = float(10_000 * base ** (16384 / 2610)) / _WHITE
    else:  # in cd/m², on a screen of 1000 (ITU-R BT.2100)
        scene = value**2 / 3 if value <= 0.5 else (math.exp((value - 0.55991073) / 0.17883277) + 0.28466892) / 12
        light = float(1000 * scene**1.2) / _WHITE
    return light if light <= 0.6 else 0.6 + 0.4 * (1 - math.exp((0.6 - light) / 0.4))
