"""Files of strangers are parsed here, in a process that may do nothing but that.

`client` is the side of the web process. `zygote` is a small process beside it that has Pillow and PyAV loaded and forks
a child for each file; `confinement` takes from the child what it does not need; `tasks` is what the child does.
"""
