"""Profiles in and out, as JSON lines: each holds a version and the current lookup of one user with all of its includes.

Top to bottom: `exporting` | `importing` > `writing` > `people`, `content`, `social`, `catalogues` > `claims` >
`tables` > `reading` > `consistency` > `form`, `section_form` > `uploads` > `shapes`.
"""
