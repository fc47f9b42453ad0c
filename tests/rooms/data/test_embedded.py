"""Images in the rows of Parquet files are those of the files that were put there; one row group is held at a time."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

from segstress.core import BadImage, BadInput
from segstress.data import embedded, load


def encoded(number: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(np.full((2, 3, 3), number, dtype=np.uint8)).save(buffer, "png")
    return buffer.getvalue()


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Two files, of five rows in groups of two and of two rows; the last has no image."""
    images = [{"bytes": encoded(number), "path": f"{number}.png"} for number in range(6)]
    pq.write_table(pa.table({"image": images[:5], "label": range(5)}), tmp_path / "a.parquet", row_group_size=2)
    last = [images[5], {"bytes": None, "path": "gone.png"}]
    pq.write_table(pa.table({"image": last, "label": [0, 0]}), tmp_path / "b.parquet")
    return tmp_path


def test_ids_are_file_and_row_and_follow_the_row_groups(rows: Path) -> None:
    pool = load(f"parquet:{rows}")
    assert [len(stretch) for stretch in pool.stretches()] == [2, 2, 1, 2]
    assert pool.ids() == [f"{'a' if row < 5 else 'b'}/{row % 5:09}" for row in range(7)]
    assert [round(255 * float(pool.read(id_).image.max())) for id_ in pool.ids()[:6]] == list(range(6))
    assert round(255 * float(pool.read("a/000000003").image.max())) == 3
    with pytest.raises(BadImage, match="is empty"):
        pool.read("b/000000001")
    for strange in ("a/000000005", "c/000000000", "a/-1", "a/x", "a"):
        with pytest.raises(BadImage, match="no image"):
            pool.read(strange)


def test_a_row_group_is_read_once_when_its_images_are_read_in_order(rows: Path, monkeypatch) -> None:
    groups, read = [], pq.ParquetFile.read_row_group

    def noting(self, group, **others):
        groups.append(group)
        return read(self, group, **others)

    monkeypatch.setattr(pq.ParquetFile, "read_row_group", noting)
    embedded._rows.cache_clear()
    pool = load(f"parquet:{rows}")
    for id_ in pool.ids()[:6]:
        pool.read(id_)
    assert groups == [0, 1, 2, 0]
    assert embedded._rows.cache_info().maxsize == 1


def test_a_plain_column_of_bytes_is_named(tmp_path: Path) -> None:
    pq.write_table(pa.table({"jpg": [encoded(7)]}), tmp_path / "x.parquet")
    assert load(f"parquet:{tmp_path / 'x.parquet'}?image=jpg").ids() == ["x/000000000"]
    with pytest.raises(BadInput, match=r"no column 'image.bytes', only jpg; .* as \?image=jpg"):
        load(f"parquet:{tmp_path}")


def test_what_holds_no_bytes_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"no \.parquet files"):
        load(f"parquet:{tmp_path}")
    pq.write_table(pa.table({"image": ["a path"]}), tmp_path / "x.parquet")
    with pytest.raises(BadInput, match=r"holds string, expected the bytes"):
        load(f"parquet:{tmp_path}?image=image")
    (tmp_path / "x.parquet").write_bytes(b"no rows at all")
    with pytest.raises(BadInput, match="cannot be read as Parquet"):
        load(f"parquet:{tmp_path}")


def test_fingerprints_follow_the_rows(rows: Path) -> None:
    before = load(f"parquet:{rows}").fingerprint()
    assert load(f"parquet:{rows}").fingerprint() == before
    pq.write_table(pa.table({"image": [{"bytes": encoded(9), "path": ""}]}), rows / "b.parquet")
    assert load(f"parquet:{rows}").fingerprint() != before
