"""The page in a real browser: opened from a file, without a network, by mouse and keyboard."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from segstress.core import import_source
from segstress.reports.study.report import write

sample = import_source(str(Path(__file__).parents[1] / "rooms" / "reports" / "sample_study.py"))
BROKEN = "[...document.images].filter(picture => picture.complete && !picture.naturalWidth).length"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    studies = [sample.study(images=12), sample.study("cnn-robust", images=12, scale=0.4, background=None)]
    return write(studies, folder, "two models")


@pytest.fixture
def page(browser: Any, report: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """The report in a window; whatever it asks for beyond its folder, or says on the console, fails the test."""
    yield from visit(browser, report, **getattr(request, "param", {}))


def visit(browser: Any, report: Path, **settings: Any) -> Iterator[Any]:
    context = browser.new_context(**{"viewport": {"width": 1400, "height": 900}, **settings})
    shown, heard, asked = context.new_page(), [], []
    shown.on("console", lambda message: heard.append(message.text))
    shown.on("pageerror", lambda error: heard.append(str(error)))
    shown.on("request", lambda request: asked.append(request.url))
    shown.goto(report.as_uri())
    yield shown
    assert heard == []
    assert all(url.startswith((report.parent.as_uri(), "data:")) for url in asked)
    context.close()


def texts(page: Any, selector: str) -> list[str]:
    return [text.strip() for text in page.locator(selector).all_text_contents()]


def address(page: Any) -> str:
    return str(page.evaluate("location.hash"))


def test_every_picture_and_figure_is_there(page: Any) -> None:
    page.evaluate("document.querySelectorAll('.folded').forEach(part => part.classList.remove('folded'))")
    page.evaluate("document.querySelectorAll('img').forEach(picture => picture.loading = 'eager')")
    page.wait_for_function("[...document.images].every(picture => picture.complete)")
    assert page.evaluate(BROKEN) == 0
    assert page.locator(".strip img").count() == 2 * 4 * 7
    figures = "[...document.querySelectorAll('figure svg, figure .drawing')]"
    drawn = page.evaluate(f"{figures}.map(figure => figure.getBoundingClientRect().width)")
    assert len(drawn) == 2 * 6 + 2  # of each study, the pairs, one perturbation on both
    assert min(drawn) > 100
    ids = page.evaluate("[...document.querySelectorAll('[id]')].map(element => element.id)")
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}], indirect=True)
def test_it_follows_the_dark_scheme(page: Any) -> None:
    style = page.evaluate("getComputedStyle(document.body)").get
    assert style("backgroundColor") != "rgb(255, 255, 255)"
    ink = page.evaluate("getComputedStyle(document.querySelector('figure svg text')).fill")
    assert ink == style("color")


@pytest.mark.parametrize("width", [400, 1000, 1400, 1600])
def test_nothing_is_cut_at_any_width(browser: Any, report: Path, width: int) -> None:
    for page in visit(browser, report, viewport={"width": width, "height": 900}):
        assert page.evaluate(OVERFLOW) == 0
        if width >= 1400:
            wide = "table => table.scrollWidth - table.closest('.scroll').clientWidth"
            assert page.locator(".together table").first.evaluate(wide) <= 0


def test_contents_lead_to_parts_and_parts_fold(page: Any) -> None:
    heads = texts(page, ".contents a")
    assert {"Compare", "cnn-normal, linf 8/255", "Gallery"} <= set(heads)
    part = page.locator("h3", has_text="Where it comes from").first
    below = part.locator("xpath=following-sibling::dl[1]")
    assert not below.is_visible()
    page.locator(".contents a", has_text="Where it comes from").first.click()
    assert below.is_visible()
    part.locator(".fold").press("Enter")
    assert not below.is_visible()


def test_the_first_screen_answers_whether_to_believe(page: Any) -> None:
    section = page.locator("section").first
    assert re.search(r"From 9\d\.\d % \([\d.]+ to [\d.]+\).*worst case", section.locator(".verdict").inner_text())
    assert "says background everywhere has" in section.locator(".verdict").inner_text()
    names = section.locator(".points dt").all_inner_texts()
    assert names[:2] == ["NOT checked", "INCOMPLETE"]
    assert {"Seal", "Cost"} <= set(names)
    assert section.locator(".points dt.open").count() == 3  # not checked, incomplete, no seal


def test_tables_sort_by_a_click_and_columns_can_be_chosen(page: Any) -> None:
    table = page.locator(".together table").first
    models = lambda: [row.split("\t")[0] for row in table.locator("tbody tr").all_inner_texts()]  # noqa: E731
    table.locator("th", has_text="Accuracy, robust").locator("button").click()
    assert models()[0] == "cnn-normal"
    table.locator("th", has_text="Accuracy, robust").locator("button").press("Enter")
    assert models()[:2] == ["always background", "cnn-robust"]
    chooser = page.locator(".together .chooser").first
    chooser.locator("summary").click()
    chooser.locator("label", has_text="Threat").click()
    assert not table.locator("th", has_text="Threat").is_visible()
    assert not table.locator("td", has_text="linf 8/255").first.is_visible()


def test_hidden_columns_are_there_to_be_chosen(page: Any) -> None:
    page.locator(".contents a", has_text="One perturbation at a time").first.click()
    head = page.locator("section th", has_text="Settings").first
    assert not head.is_visible()
    page.locator("section .chooser", has_text="Settings").first.locator("summary").click()
    page.locator("section .chooser label", has_text="Settings").first.click()
    assert head.is_visible()


def test_the_gallery_filters_and_sorts(page: Any) -> None:
    count = page.locator("#gallery-count")
    assert count.inner_text() == "12 of 48 pictures"
    page.locator("[name=strongest]").uncheck()
    page.locator("[name=model]").select_option("1")
    page.locator("[name=outcome]").select_option("pgd 8/255")
    assert count.inner_text() == "6 of 48 pictures"
    assert all("cnn-robust, pgd 8/255" in words for words in texts(page, ".card .caption"))
    page.locator("[name=sort]").select_option("id")
    ids = [words.split()[0] for words in page.locator(".card .caption").all_inner_texts()]
    assert ids == sorted(ids)
    page.locator("[name=drop]").fill("99")
    assert "nothing fits" in count.inner_text()
    page.locator("button[type=reset]").click()
    page.wait_for_function("document.querySelector('#gallery-count').textContent === '12 of 48 pictures'")
    page.locator("[name=warned]").check()
    assert set(re.findall(r"test/\d+", " ".join(texts(page, ".card")))) == {"test/0003"}


def test_one_image_by_keyboard_and_its_address_leads_back(browser: Any, report: Path, page: Any) -> None:
    page.locator(".card").first.press("Enter")
    name = page.locator(".lightbox .name")
    first = name.inner_text()
    assert page.locator(".pane").count() == 7
    page.keyboard.press("ArrowRight")
    assert name.inner_text() != first
    chosen = page.locator(".lightbox .outcome").input_value()
    page.keyboard.press("ArrowDown")
    assert page.locator(".lightbox .outcome").input_value() != chosen
    page.keyboard.press("+")
    assert page.locator(".panes").evaluate("panes => panes.style.getPropertyValue('--zoom')") == "2"
    page.keyboard.press("m")
    assert page.locator(".panes .row").count() == 2
    link = page.url
    shown = page.locator(".lightbox .words").inner_text()
    page.keyboard.press("Escape")
    assert not page.locator(".lightbox").is_visible()
    assert "at=" not in address(page)
    for other in visit(browser, report):
        other.goto(link)
        other.reload()
        assert other.locator(".lightbox .words").inner_text() == shown


def test_clean_and_perturbed_blink_and_swipe(page: Any) -> None:
    page.locator(".card").first.click()
    page.keyboard.press("b")
    after = page.locator(".panes .after").first
    assert not after.is_visible()
    page.wait_for_function("document.querySelector('.turned .after')?.checkVisibility({visibilityProperty: true})")
    page.locator("[data-do=swipe]").click()
    page.locator(".border").fill("20")
    assert page.locator(".panes").evaluate("panes => panes.style.getPropertyValue('--border')") == "20%"


def test_the_legend_shows_where_a_class_is(page: Any) -> None:
    page.locator(".card").first.click()
    page.locator(".pane .map").first.wait_for()
    before = page.locator(".pane", has_text="truth").first.screenshot()
    page.locator(".lightbox .legend li").nth(1).hover()
    assert page.locator(".panes.highlighting").count() == 1
    assert page.locator(".pane", has_text="truth").first.screenshot() != before


def test_print_opens_what_is_folded(page: Any) -> None:
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".folded").count() == 0


def test_a_name_that_is_a_script_is_shown_and_not_run(browser: Any, tmp_path: Path) -> None:
    evil = "<script>document.title='run'</script>"
    study = sample.study(images=6)
    study = replace(study, model=evil, classes=(*study.classes[:-1], evil))
    for page in visit(browser, write([study], tmp_path, evil)):
        page.locator(".card").first.click()
        assert "document.title='run'" in page.locator(".lightbox .words").inner_text()
        assert page.title() != "run"


def test_two_thousand_images_stay_responsive(browser: Any, tmp_path: Path) -> None:
    index = write([sample.study(images=6)], tmp_path, "many")
    catalogue = tmp_path / "gallery" / "catalogue.js"
    many = (
        "{ const study = window.SEGSTRESS_GALLERY.studies[0], frame = study.frames[0], image = study.images[0];"
        " study.images = Array.from({length: 2000}, (_, n) => [`image ${n}`, ...image.slice(1)]);"
        " study.frames = study.images.map((_, n) => [n, frame[1], n / 2000, ...frame.slice(3)]); }"
    )
    catalogue.write_text(catalogue.read_text() + many)
    loaded = [index, *tmp_path.rglob("*.js"), *tmp_path.rglob("*.css")]
    assert sum(path.stat().st_size for path in loaded) < 3e6, "page and scripts"
    for page in visit(browser, index):
        page.locator("[name=strongest]").uncheck()  # they are copies of one image
        assert page.locator("#gallery-count").inner_text() == "2000 of 2000 pictures"
        assert page.locator(".card").count() < 200
        page.locator("#gallery").scroll_into_view_if_needed()
        page.locator("[name=drop]").fill("50")
        assert int(page.locator("#gallery-count").inner_text().split()[0]) < 2000
