"""Times beside results: added to, never mixed into them."""

from __future__ import annotations

from segstress.results.timings import Timing, note, read


def test_what_is_noted_later_stands(tmp_path):
    assert read(tmp_path) == {}
    note(tmp_path, [Timing("cell", 'a,"b"', 1.5), Timing("cell", "c", 0.25)])
    note(tmp_path, [Timing("cell", "c", 2.0)])
    assert read(tmp_path) == {("cell", 'a,"b"'): 1.5, ("cell", "c"): 2.0}
