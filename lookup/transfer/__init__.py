"""Profiles in and out, as JSON lines: each holds a version and the current lookup of one user with all of its includes;
and links in, from files of other services.

Top to bottom: `own_links` > `own` | `importing` > `content` > `people`, `catalogues` > `conflicts` >
`tables`, `link_files` > `reading` > `form`.
"""
