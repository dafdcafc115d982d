"""Sounds, by PyAV: signature and a test decode. Runs in the confined child.

Profiles accept sounds, the image host does not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import BinaryIO

import av
from av.audio.stream import AudioStream
from av.container import InputContainer
from av.stream import Disposition

from imagehost.examining.prober.errors import Refused, believable
from imagehost.media import FileFacts

_PACKETS = 50  # to look for sound in
_ENOUGH = 3  # packets with sound: random bytes seldom hold so many


@dataclass(frozen=True)
class _Type:
    mime: str
    format: str  # FFmpeg's name of the container


_MP3 = _Type("audio/mpeg", "mp3")
_OGG = _Type("audio/ogg", "ogg")
_WAV = _Type("audio/wav", "wav")
_M4A = _Type("audio/mp4", "mov")
_M4A_BRANDS = frozenset({b"M4A ", b"M4B ", b"mp41", b"mp42", b"isom", b"iso2", b"iso5", b"iso6", b"dash"})


def facts(file: BinaryIO, head: bytes) -> FileFacts:
    """Return the facts of a sound, of which some must decode. Raises Refused or one of `errors.BROKEN`."""
    type_ = _of_signature(head)
    if type_ is None:
        raise Refused("no signature of a sound")
    file.seek(0)
    with av.open(file, mode="r", format=type_.format) as container:
        if any(not stream.disposition & Disposition.attached_pic for stream in container.streams.video):
            raise Refused(f"{type_.mime}: a video, not a sound")
        _check_sound(container, _sound(container))
        microseconds: int | None = container.duration
        duration_ms = believable(microseconds / 1000) if microseconds else None
        return FileFacts(type_.mime, duration_ms=duration_ms)


def _of_signature(head: bytes) -> _Type | None:
    """Return the type by signature. MPEG audio starts with a tag or a frame of layer III (ISO/IEC 11172-3 §2.4.1.3)."""
    if head.startswith(b"OggS\0"):
        return _OGG
    if head.startswith(b"RIFF") and head[8:12] == b"WAVE":
        return _WAV
    if head[4:8] == b"ftyp":
        return _M4A if head[8:12] in _M4A_BRANDS else None
    if head.startswith(b"ID3"):
        return _MP3
    is_frame = len(head) > 2 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2 and head[2] & 0xF0 not in (0, 0xF0)
    return _MP3 if is_frame else None


def _sound(container: InputContainer) -> AudioStream:
    if not container.streams.audio:
        raise Refused("no sound in it")
    stream = container.streams.audio[0]
    stream.codec_context.thread_count = 1  # a child may not start threads
    return stream


def _check_sound(container: InputContainer, stream: AudioStream) -> None:
    """Refuse a file unless most of its first packets decode; a short sound may have one."""
    sounding = broken = 0
    for number, packet in enumerate(container.demux(stream)):
        if sounding >= _ENOUGH or number >= _PACKETS:
            break
        try:
            sounding += any(frame.samples for frame in packet.decode())
        except av.InvalidDataError:
            broken += 1
    if not sounding or broken > sounding:
        raise Refused(f"{sounding} packets of sound can be decoded, {broken} cannot")
