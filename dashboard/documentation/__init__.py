"""The documentation under /docs: Markdown pages that are read by people as HTML, and by programs as they are.

A page is one file of pages/. `expansion` puts in what the code itself knows (tables of fields, errors, samples), which
gives the Markdown twin; `rendering` makes HTML of that; `reader` fills in the ids of whoever is signed in.
"""
