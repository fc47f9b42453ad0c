"""What all tests share: one thread, the command line as a function, a folder of images, networks to stress."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import NamedTuple

import hypothesis
import numpy as np
import pytest
import torch
from jaxtyping import install_import_hook
from PIL import Image

# Shapes in signatures are checked in tests only; runtime is left out because worker processes import it anew.
CHECKED = [f"segstress.{room}" for room in ("core", "data", "models", "metrics", "attacks", "testing")]
with install_import_hook(CHECKED, "beartype.beartype"):
    import segstress.evaluation.report
    import segstress.testing
    from segstress.cli.main import main

hypothesis.settings.register_profile("segstress", deadline=None, derandomize=True)
hypothesis.settings.load_profile("segstress")

NETS = Path(__file__).parent / "nets.py"


@pytest.fixture(autouse=True, scope="session")
def own_cache(tmp_path_factory):
    """Leave the user's cache folder alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="session")
def s3():
    """The address of a bucket of moto's S3 server on loopback, where moto is installed (extra `moto`)."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server")
    import fsspec
    from werkzeug.serving import make_server

    http = make_server("127.0.0.1", 0, server.DomainDispatcherApplication(server.create_backend_app), threaded=True)
    threading.Thread(target=http.serve_forever, daemon=True).start()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            patch.setenv(name, "test")
        patch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{http.server_port}")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        fsspec.filesystem("s3", skip_instance_cache=True).mkdir("bucket")
        yield "s3://bucket"
    http.shutdown()


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def net(name: str) -> str:
    """The spec of a network in tests/nets.py."""
    return f"factory:{NETS}:{name}"


class Said(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def segstress(capsys, tmp_path, monkeypatch):
    """The command line, run in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*words: object) -> Said:
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        return Said(int(left.value.code or 0), *capsys.readouterr())

    return run


def write_folder(root: Path, sizes: list[tuple[int, int]], classes: int = 7, ignore: int = 255) -> Path:
    """Images and masks under root, one of each size."""
    generator = np.random.default_rng(0)
    for place in ("images", "masks"):
        (root / place).mkdir(parents=True, exist_ok=True)
    for number, (height, width) in enumerate(sizes):
        image = generator.integers(0, 256, (height, width, 3), dtype=np.uint8)
        mask = generator.integers(0, classes, (height, width), dtype=np.uint8)
        mask[0] = ignore
        Image.fromarray(image).save(root / "images" / f"scene-{number}.png")
        Image.fromarray(mask).save(root / "masks" / f"scene-{number}.png")
    return root


@pytest.fixture
def folder(tmp_path):
    """A small labelled folder and its spec."""
    root = write_folder(tmp_path / "photos", [(16, 20)] * 4)
    return root, f"folder:{root}?classes=7&ignore=255"
