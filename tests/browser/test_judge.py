"""The judge page in a real browser: keys, undo, reload, two people, the static folder."""

from __future__ import annotations

import json
from pathlib import Path

from pages import Server, come_in, link, press, ready, settled
from sessions import MODELS, make_session

from segstress.voting.static import take_file, write_static


def test_twenty_choices_by_keyboard_then_undo_reload_and_resume(browser, server: Server) -> None:
    page = come_in(browser, server.url)
    keys = ["ArrowLeft", "ArrowRight", "ArrowDown", "1", "2"]
    for number in range(19):
        press(page, keys[number % 5])
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#rest:not([hidden])")
    assert "20 times" in page.text_content("#rest-text")
    page.keyboard.press("Enter")
    ready(page)
    settled(page)
    choices = [row["choice"] for row in server.saved()]
    assert choices == ["left", "right", "tie", "left", "right"] * 3 + ["left", "right", "tie", "left", "left"]
    assert [row["sequence"] for row in server.saved()] == list(range(20))
    for _ in range(2):
        press(page, "z")
    page.reload()
    ready(page)
    press(page, "Backspace")
    settled(page)
    assert len(server.saved()) == 17
    assert page.text_content("#progress") == "17 of 30 done"
    press(page, "ArrowRight")
    settled(page)
    assert [row["choice"] for row in server.saved()][-1] == "right"


def test_a_rejection_has_a_reason(browser, server: Server) -> None:
    page = come_in(browser, server.url)
    page.keyboard.press("x")
    page.keyboard.press("Escape")
    page.keyboard.press("x")
    press(page, "2")
    settled(page)
    (row,) = server.saved()
    assert (row["choice"], row["reason"]) == ("reject", "does not show the class")


def test_two_people_at_once_do_not_meet(browser, server: Server) -> None:
    kim, lee = (come_in(browser, server.url, rater) for rater in ("kim", "lee"))
    for _ in range(3):
        press(kim, "ArrowLeft")
        press(lee, "ArrowRight")
    settled(kim)
    settled(lee)
    assert [row["choice"] for row in server.saved("kim")] == ["left"] * 3
    assert [row["choice"] for row in server.saved("lee")] == ["right"] * 3


def test_the_page_can_be_looked_at_in_every_way(browser, server: Server) -> None:
    page = come_in(browser, server.url)

    def picture(panel: str) -> str:
        return page.evaluate(f"document.querySelector('#panel-{panel} canvas').toDataURL()")

    plain = picture("A")
    for key in ("d", "g", "o"):
        page.keyboard.press(key)
        assert picture("A") != plain, key
        if key != "o":
            page.keyboard.press(key)
            assert picture("A") == plain, key
    page.keyboard.press("Space")
    assert (picture("image"), page.text_content("#panel-image figcaption")) == (picture("A"), "image with A")
    page.keyboard.press("Space")
    assert picture("image") == picture("B")
    assert page.locator("#legend span").count() > 0
    page.keyboard.press("h")
    assert page.locator("#legend span").count() == 0
    page.keyboard.press("+")
    scales = page.eval_on_selector_all("canvas", "all => all.map(each => each.style.transform)")
    assert len(set(scales)) == 1
    assert "scale(1.5)" in scales[0]
    page.keyboard.press("?")
    assert page.locator("#help[open]").count() == 1
    assert server.saved() == []


def test_what_the_browser_receives_names_no_model(browser, server: Server) -> None:
    seen: list[str] = []
    page = browser.new_context().new_page()
    page.on("response", lambda answer: seen.append(answer.url + (answer.text() if answer.ok else "")))
    page.goto(f"{server.url}{link('kim')}")
    ready(page)
    press(page, "ArrowLeft")
    seen.append(page.content())
    assert len(seen) > 8
    assert not any(model in text for text in seen for model in MODELS)


def test_the_static_folder_works_without_a_server(browser, tmp_path: Path) -> None:
    session = make_session(tmp_path)
    write_static(session, "kim", tmp_path / "page")
    page = browser.new_context(accept_downloads=True).new_page()
    page.goto((tmp_path / "page" / "index.html").as_uri())
    ready(page)
    for key in ("ArrowLeft", "ArrowRight", "ArrowDown"):
        press(page, key)
    press(page, "z")
    page.reload()
    ready(page)
    assert page.text_content("#progress") == "2 of 30 done"
    with page.expect_download() as download:
        page.keyboard.press("e")
    file = tmp_path / "decisions.json"
    download.value.save_as(file)
    assert take_file(session, file) == 2
    assert [row["choice"] for row in session.current("kim")] == ["left", "right"]


def test_the_export_of_a_served_page_is_complete(browser, server: Server, tmp_path: Path) -> None:
    page = come_in(browser, server.url)
    press(page, "ArrowLeft")
    settled(page)
    with page.expect_download() as download:
        page.click("[data-tool=export]")
    content = json.loads(Path(download.value.path()).read_text())
    assert (content["rater"], [event["choice"] for event in content["events"]]) == ("kim", ["left"])
