"""A plausible population for demonstrations and measurements, the same wherever it is made.

`growth.grow` makes it. Everything about a member follows from the seed and the member's number, so that the first
hundred of a thousand are the same hundred; only the last sign-ins are counted back from the day it is made.
"""
