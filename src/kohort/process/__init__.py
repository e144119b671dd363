"""How a process of ours runs: its event loop and its memory."""
