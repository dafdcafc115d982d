"""A local chat platform that speaks the real one's gateway and REST protocol over real sockets.

The tests' double, and what the embedded default is connected to. `running.simulator` starts one.
"""
