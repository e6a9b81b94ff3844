"""Questions put to the store, as functions from frames to frames.

Here rates get their intervals and runs are laid beside each other. Nothing is read but the
store and `data/`, nothing is drawn: pictures and tables are made by `figures`.
"""
