"""Two windows of one person: the second is told that its answer was not taken."""

from __future__ import annotations

from pages import Server, link, press, ready, settled


def test_the_second_window_says_that_its_answer_was_not_taken(browser, server: Server) -> None:
    context = browser.new_context()
    first, second = context.new_page(), context.new_page()
    for page in (first, second):
        page.goto(f"{server.url}{link('kim')}")
        ready(page)
    press(first, "ArrowLeft")
    settled(first)
    second.keyboard.press("ArrowRight")
    second.wait_for_selector("#rest:not([hidden])")
    assert second.text_content("#rest-title") == "Not taken"
    assert "another window" in second.text_content("#rest-text")
    assert [row["choice"] for row in server.saved()] == ["left"]
    second.click("#go-on")
    ready(second)
    assert second.text_content("#progress") == "1 of 30 done"
