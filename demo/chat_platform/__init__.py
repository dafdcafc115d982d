"""A local chat platform that speaks the real one's gateway and REST protocol over real sockets.

What the embedded default is connected to; `tests.support.chat_platform` adds what a test does to it.
`running.Simulator.started` starts one.
"""
