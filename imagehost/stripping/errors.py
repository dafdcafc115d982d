"""Why a file is not taken; the text is for the log alone."""


class Refusal(ValueError):
    """The file is as it was."""


class ForeignBytes(Refusal):
    """Content that belongs to no part of the format: an archive or a script behind an image."""


class Malformed(Refusal):
    """The container's structure is broken: a cut header, a box beyond its parent's end, no image at all."""


class TooManyParts(Refusal):
    """The walk would take longer than that of any honest file."""
