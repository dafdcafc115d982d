"""Why a file is not taken. Both are ValueErrors; the text is for the log alone."""


class ForeignBytes(ValueError):
    """Content that belongs to no part of the format: an archive or a script behind an image."""


class Malformed(ValueError):
    """The container's structure is broken: a cut header, a box beyond its parent's end, no image at all."""
