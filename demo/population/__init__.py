"""A plausible population for demonstrations and measurements, equal in every installation.

`growth.grow` makes it. Everything about a member follows from the seed and the member's number, so that the first
hundred of a thousand are equal to a hundred; only the last sign-ins are counted back from the present day.
"""
