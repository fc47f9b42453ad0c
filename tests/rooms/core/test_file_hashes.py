"""Hashes of files are remembered, and never stale."""

import os
import time

from segstress.core import file_hashes


def test_a_hash_is_worked_out_once_and_anew_when_the_file_changes(tmp_path, monkeypatch):
    path = tmp_path / "mask.png"
    path.write_bytes(b"one")
    first = file_hashes.file_hashes([path])[path]
    monkeypatch.setattr(file_hashes, "YOUNG", -60.0)  # as if a minute had passed
    file_hashes.file_hashes([path])
    worked: list[object] = []
    honest = file_hashes._hash
    monkeypatch.setattr(file_hashes, "_hash", lambda path: worked.append(path) or honest(path))
    assert file_hashes.file_hashes([path]) == {path: first}
    assert worked == []
    before = path.stat()
    time.sleep(0.02)
    path.write_bytes(b"two")
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))  # same size, and the time put back
    assert file_hashes.file_hashes([path])[path] != first


def test_without_a_cache_folder_everything_is_hashed(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert len(file_hashes.file_hashes([tmp_path / "file"])[tmp_path / "file"]) == 32
    gone = tmp_path / "gone"
    assert file_hashes.file_hashes([gone]) == {gone: "unreadable"}
