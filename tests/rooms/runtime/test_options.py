"""What cannot be meant by run options is refused wherever they come from."""

from __future__ import annotations

import pytest

from segstress.core import BadInput
from segstress.runtime import RunOptions


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"executor": "rya"}, "unknown executor 'rya'; expected local or ray"),
        ({"ray_address": "nowhere:1"}, "--ray-address: only Ray heeds that, found executor local; add --executor ray"),
        ({"ray_address": "a:1", "gpus_per_worker": 3}, "--ray-address and --gpus-per-worker: only Ray heeds that"),
    ],
)
def test_options_that_nobody_would_heed_are_refused(given: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput) as refused:
        RunOptions(**given)
    assert str(refused.value).startswith(words)
    RunOptions(executor="ray", ray_address="auto", gpus_per_worker=0.5)


@pytest.mark.parametrize("command", [("attack", "--attack", "fgsm"), ("train", "cnn-pgd-at-50", "--workers", "4")])
def test_commands_refuse_them_before_they_begin(command: tuple[str, ...], segstress, tmp_path) -> None:
    rest = () if command[0] == "train" else ("--model", "compact:cnn-normal", "--data", "shapes:test?count=1&size=32")
    said = segstress(*command, *rest, *(() if command[0] == "train" else ("--eps", "8/255")), "--executor", "rya")
    assert said.code == 2
    assert "unknown executor 'rya'" in said.err
    assert not (tmp_path / "runs").exists()
