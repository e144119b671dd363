"""The event loop and the memory settings of every Kohort process."""
