"""Screening and reviewing in a real browser, and servers that die while people decide."""

from __future__ import annotations

import pytest
from pages import Server, come_in, link, press, ready, settled
from sessions import MODELS

TOOLS = {"flicker", "opacity", "difference", "bare", "legend"}


def reject(page, reason: str) -> None:
    """Turn the trial away by keyboard."""
    page.keyboard.press("ArrowLeft")
    page.wait_for_selector("#reasons[open]")
    press(page, reason)


def offered(page) -> set[str]:
    """The tools for looking that the page shows."""
    shown = page.eval_on_selector_all(
        "[data-tool]:not([hidden]), [data-slider]:not([hidden])",
        "all => all.map(each => each.dataset.tool || each.dataset.slider)",
    )
    return TOOLS & set(shown)


def picture(page, panel: str) -> str:
    return page.evaluate(f"document.querySelector('#panel-{panel} canvas').toDataURL()")


@pytest.mark.parametrize("server", ["screen"], indirect=True)
def test_screening_keeps_rejects_and_undoes(browser, server: Server) -> None:
    page = come_in(browser, server.url)
    assert page.text_content("#task") == "Is this a natural image that shows cat?"
    assert page.locator("#do-keep").bounding_box()["y"] < page.viewport_size["height"]
    assert page.locator("canvas").bounding_box() == page.locator(".view").bounding_box()  # nothing of it is cut off
    assert page.locator("figure").count() == 1
    assert offered(page) == set()
    plain = picture(page, "image")
    for key in ("d", "g", "o", "Space"):
        page.keyboard.press(key)
    assert (picture(page, "image"), page.text_content("figcaption")) == (plain, "image")
    press(page, "ArrowRight")
    reject(page, "1")
    reject(page, "4")
    press(page, "z")
    page.reload()
    ready(page)
    press(page, "1")
    settled(page)
    assert [(row["choice"], row["reason"]) for row in server.saved()] == [
        ("keep", ""),
        ("reject", "not a natural image"),
        ("keep", ""),
    ]
    assert page.text_content("#progress") == "3 of 10 done"


@pytest.mark.parametrize("server", ["review"], indirect=True)
def test_review_shows_labels_and_says_what_is_wrong_with_them(browser, server: Server) -> None:
    page = come_in(browser, server.url)
    assert page.text_content("#task").startswith("Are these labels right")
    assert offered(page) == {"opacity", "bare", "legend"}
    assert picture(page, "labels") != picture(page, "image")
    assert page.locator("#legend span").all_text_contents() == ["background", "dog"]
    page.keyboard.press("g")
    assert picture(page, "labels") == picture(page, "image")
    page.keyboard.press("g")
    page.keyboard.press("ArrowLeft")
    assert page.text_content("#why") == "What is wrong with the labels?"
    press(page, "2")
    for _ in range(8):
        press(page, "ArrowRight")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#rest:not([hidden])")
    assert page.text_content("#rest-title") == "All done"
    settled(page)
    assert [(row["choice"], row["reason"]) for row in server.saved()] == [("reject", "a class is wrong")] + [
        ("keep", "")
    ] * 9
    assert {tuple(row["shown"]) for row in server.saved()} == {("labels",)}


def test_a_killed_server_loses_nothing(browser, server: Server) -> None:
    page = come_in(browser, server.url)
    for _ in range(3):
        press(page, "ArrowLeft")
    settled(page)
    acknowledged = [row["id"] for row in server.saved()]
    server.kill()
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#saved[data-waiting=true]")
    assert [row["id"] for row in server.saved()] == acknowledged
    server.begin()
    settled(page)
    assert [row["choice"] for row in server.saved()] == ["left"] * 3 + ["right"]


def test_a_page_whose_pictures_failed_goes_on_when_the_server_is_back(browser, server: Server) -> None:
    page = come_in(browser, server.url)
    server.kill()
    decided = 0
    while page.get_attribute("body", "data-ready") == "true":  # a few pictures may have come ahead
        page.keyboard.press("ArrowLeft")
        decided += 1
        page.wait_for_timeout(300)
    assert page.text_content("#progress") == f"{decided} of 30 done"
    server.begin()
    ready(page)
    settled(page)
    assert [row["choice"] for row in server.saved()] == ["left"] * decided


@pytest.mark.parametrize("server", ["review", "screen"], indirect=True)
def test_no_mode_names_a_model(browser, server: Server) -> None:
    seen: list[str] = []
    page = browser.new_context().new_page()
    page.on("response", lambda answer: seen.append(answer.url + (answer.text() if answer.ok else "")))
    page.goto(f"{server.url}{link('kim')}")
    ready(page)
    seen.append(page.content())
    assert len(seen) > 6
    assert not any(model in text for text in seen for model in MODELS)
