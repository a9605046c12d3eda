"""Requests to replies: one client, a store that replays, strict reading of what comes back."""
