"""Who is handed what, without Ray: units of workers that die, and what waits for a slow one."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from dying import Doubling

from segstress.runtime.elsewhere import Greeting, Station

pytest.importorskip("ray")
from segstress.runtime import ray_executor
from segstress.runtime.handouts import Handout, Handouts, Hired
from segstress.runtime.ray_cluster import Died
from segstress.runtime.ray_executor import ATTEMPTS, Crew, Ray


def actor() -> SimpleNamespace:
    """What takes everything and never answers."""
    method = SimpleNamespace(remote=lambda *given: object())
    method.options = lambda **given: method
    return SimpleNamespace(greet=method, answer=method, take_back=method)


@pytest.fixture
def crew(tmp_path, monkeypatch) -> Crew:
    def lost(reference, seconds):
        raise Died("the worker died")

    cluster = SimpleNamespace(threads=1, is_here=lambda: True, hire=lambda station: actor())
    monkeypatch.setattr(ray_executor, "send", lambda value: value)
    monkeypatch.setattr(ray_executor, "fetch", lost)
    monkeypatch.setattr(ray_executor, "dismiss", lambda actor: None)
    return Crew(Ray(cluster), Doubling(tmp_path), tmp_path, "")


def hired(crew: Crew) -> Hired:
    member = Hired(actor(), Greeting("here", True, {}))
    crew.members.append(member)
    return member


def test_a_unit_is_given_up_after_so_many_deaths_of_those_that_had_it_in_hand(crew):
    handouts, answers = Handouts(()), []
    deadly, beside = Handout(4), Handout(5)
    for _ in range(ATTEMPTS):
        member = hired(crew)
        for task in (deadly, beside):
            member.hand(task, {})
        answers += crew._bury(member, Died("the worker died"), handouts)
    assert answers == [-4]
    assert (deadly.deaths, beside.deaths) == (ATTEMPTS, 0)
    again = [deadly, beside] * (ATTEMPTS - 1) + [beside]
    assert [handouts.take() for _ in again] == again
    assert handouts.take() is None


def test_what_waits_is_asked_back_once_and_only_for_who_is_idle(crew):
    handouts, slow = Handouts("abc"), hired(crew)
    assert crew._hand_out(handouts)
    assert [task.unit for task in slow.tasks.values()] == ["a", "b"]
    quick = hired(crew)
    crew._hand_out(handouts)
    assert [task.unit for task in quick.tasks.values()] == ["c"]
    assert not crew.asked
    quick.tasks.clear()
    for _ in range(2):
        crew._hand_out(handouts)
    ((question, reference),) = crew.asked.items()
    crew._take_back(slow, crew.asked.pop(question), handouts, agreed=True)
    assert reference not in crew.pending
    crew._hand_out(handouts)
    assert [task.unit for member in (slow, quick) for task in member.tasks.values()] == ["a", "b"]


def test_only_what_is_not_begun_can_be_taken_back(tmp_path):
    station = Station()
    station.work = Doubling(tmp_path / "run")
    assert station.answer(1, 5, {}).answer == 10
    assert not station.take_back(1)
    assert station.take_back(2)
    assert station.answer(2, 6, {}) is None
    assert station.answer(3, 6, {}).answer == 12
