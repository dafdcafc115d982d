"""Profiles in and out, as JSON lines: each holds a version and the current lookup of one user with all of its includes.

Top to bottom: `own` | `importing` > `content` > `people`, `catalogues` > `conflicts` >
`tables` > `reading` > `form`.
"""
