"""Outputs that a move must not change: deltas of every attack on toy problems, tables of small runs.

`python -m tests.golden` compares what is made now with what is stored, byte for byte; `--renew` stores it anew, and the
commit that does so says why. The tests compare to a tolerance, since another processor rounds differently.

Changed since they were stored: the table `minimal-finds` is called `minimal-results`.
"""
