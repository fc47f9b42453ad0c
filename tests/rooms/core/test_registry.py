"""Names, specs and settings."""

from __future__ import annotations

import pickle
from typing import ClassVar

import pytest

from segstress.attacks import losses
from segstress.core import BadInput, Registry, digest, import_source, settings, to_plain


@pytest.fixture
def fruits():
    registry = Registry("fruit")

    @registry.register("apple")
    @settings
    class Apple:
        """A round one."""

        positional: ClassVar = "colour"
        ripe: ClassVar[bool] = True
        colour: str = "red"
        size: float = 1.0
        seeds: tuple[int, ...] = ()

    registry.preset("granny", Apple, "A sour apple", colour="green")
    return registry


def test_text_and_mapping_build_the_same(fruits):
    assert fruits.build("apple:blue?size=2&seeds=1,2") == fruits.build(
        {"kind": "apple", "colour": "blue", "size": 2.0, "seeds": [1, 2]}
    )


def test_spec_builds_an_equal_item(fruits):
    item = fruits.build("granny?size=3")
    assert fruits.build(fruits.spec(item)) == item


def test_a_preset_fixes_settings_and_lets_the_rest_be_given(fruits):
    assert fruits.build("granny?size=3").colour == "green"
    assert fruits.build("granny?size=3").size == 3


def test_the_name_says_what_defaults_and_presets_do_not(fruits):
    assert fruits.name(fruits.build("apple")) == "apple"
    assert fruits.name(fruits.build("apple:green")) == "granny"
    assert fruits.name(fruits.build("apple:green?size=2")) == "granny(size=2.0)"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("aple", "unknown fruit 'aple'; did you mean 'apple'?"),
        ("zzz", "unknown fruit 'zzz'; known: apple, granny"),
        ("apple?sise=1", "unknown setting 'sise'; did you mean 'size'?"),
        ("apple?ripe=false", "unknown setting 'ripe'; known: colour, seeds, size"),  # a ClassVar is none
        ("apple?size=big", "size"),
        ("apple?size", "expected key=value"),
        ({"name": "apple"}, "expected a mapping with 'kind'"),
    ],
)
def test_mistakes_get_one_line(fruits, spec, message):
    with pytest.raises(BadInput) as caught:
        fruits.build(spec)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_is_given_once(fruits):
    with pytest.raises(BadInput, match="registered twice"):
        fruits.register("apple")(lambda: None)


def test_a_plug_in_cannot_take_a_name_of_the_package_by_a_function_that_is_called_alike(tmp_path):
    ours = losses.get("annealed-error")
    plugin = tmp_path / "plugin.py"
    plugin.write_text(
        "from segstress.attacks import losses\n\n\n"
        f"@losses.register('annealed-error')\ndef {ours.__name__}(view):\n    return -view.distance\n"
    )
    with pytest.raises(BadInput, match="registered twice"):
        import_source(str(plugin))
    assert losses.get("annealed-error") is ours


def test_settings_are_frozen_and_travel(fruits):
    item = fruits.build("apple")
    with pytest.raises(AttributeError):
        item.size = 2
    assert to_plain(item) == {"colour": "red", "size": 1.0, "seeds": []}


def test_digest_does_not_depend_on_the_order_of_keys():
    assert digest({"a": 1, "b": [2, 3]}) == digest({"b": [2, 3], "a": 1})
    assert digest({"a": 1}) != digest({"a": 2})


def test_a_file_is_imported_once_and_may_fail_clearly(tmp_path):
    (tmp_path / "more.py").write_text("import uuid\nmark = uuid.uuid4()\n")
    assert import_source(str(tmp_path / "more.py")).mark == import_source(str(tmp_path / "more.py")).mark
    with pytest.raises(BadInput, match="does not exist"):
        import_source(str(tmp_path / "none.py"))
    with pytest.raises(BadInput, match="cannot be imported"):
        import_source("no_such_module_anywhere")


def test_registered_settings_survive_pickle():
    from segstress.core import regions

    item = regions.build("patches:0.3?size=8")
    assert pickle.loads(pickle.dumps(item)) == item
