"""Color profiles as monitors and printers have them: the tags of sRGB and further ones."""

import struct

from tests.imagehost.media_corpus.real_images import color_profile

Tags = dict[bytes, bytes]


def tags(profile: bytes) -> Tags:
    (count,) = struct.unpack_from(">I", profile, 128)
    entries = [struct.unpack_from(">4sII", profile, 132 + 12 * number) for number in range(count)]
    return {tag: profile[start : start + length] for tag, start, length in entries}


def of_tags(head: bytes, wanted: Tags) -> bytes:
    """A profile with the header `head`, each tag at a multiple of four."""
    table, body, start = b"", b"", 132 + 12 * len(wanted)
    for tag, content in wanted.items():
        table += struct.pack(">4sII", tag, start + len(body), len(content))
        body += content + bytes(-len(content) % 4)
    rest = head[4:128] + struct.pack(">I", len(wanted)) + table + body
    return struct.pack(">I", 4 + len(rest)) + rest


def with_tags(more: Tags, *, swapped: bool = False) -> bytes:
    """sRGB and `more` tags; `swapped`: red for blue, so that a loss shows."""
    plain = color_profile()
    found = tags(plain)
    if swapped:
        found |= {b"rXYZ": found[b"bXYZ"], b"bXYZ": found[b"rXYZ"]}
    return of_tags(plain, found | more)


def of_monitor(secret: bytes) -> bytes:
    """As a Mac puts it into screenshots."""
    name = b"mluc" + struct.pack(">IIIHHII", 0, 1, 12, 0x656E, 0x5553, len(secret), 28) + secret
    private = {b"desc": name, b"mmod": b"mmod" + bytes(4) + secret, b"vcgt": b"vcgt" + secret, b"dscm": name}
    profile = with_tags(private, swapped=True)
    return (
        profile[:24]
        + b"\x07\xea"
        + profile[26:48]
        + secret[:8]
        + profile[56:80]
        + secret[:4]
        + secret[:16]
        + profile[100:]
    )
