"""From an event of the simulated platform to its being readable, over real sockets, at 2,000 and 5,000 events a second."""
