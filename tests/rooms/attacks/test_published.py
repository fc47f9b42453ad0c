"""Attacks under a paper's name beside plain versions of what was published, one image and no shared code."""

from __future__ import annotations

import math

import pytest
import torch
from torch.nn import functional

from segstress.attacks import Attack, attacks
from segstress.attacks.algorithms.search import _Most
from segstress.attacks.minimal import masking as masks
from segstress.attacks.search.look import Effect, Look
from segstress.core import Threat, uniform
from segstress.testing import toy_batch, toy_model
from segstress.testing.trial import WEIGHTS, attack_of

RADIUS = 0.06
ENOUGH = 0.99


@pytest.fixture
def case():
    """A model, one image, and weak margins, so that searches succeed on the way."""
    model = toy_model()
    return model, toy_batch(model).pick([1])


def watch(spec, model, batch, **threat):
    """The deltas of every image that the model is shown after the clean one, and the attack's own results."""
    seen = []
    handle = model.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].detach() - batch.images))
    done = attack_of(attacks.build(spec), threat=Threat(**threat)).perturb(model, batch, 3)
    handle.remove()
    return seen[1:], done.results


def margins(logits, labels):
    """How far the label is ahead of the best other class."""
    others = logits.scatter(1, labels[:, None], -math.inf).amax(1)
    return logits.gather(1, labels[:, None])[:, 0] - others


def won(model, batch, delta):
    """The share of valid pixels that are wrong."""
    wrong = (model((batch.images + delta).clamp(0, 1)).argmax(1) != batch.labels) & batch.valid
    return float(wrong.sum()) / float(batch.valid.sum())


def slope(function, delta):
    """The gradient of a number with respect to a delta."""
    leaf = delta.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(function(leaf), leaf)
    return gradient


def assert_same(ours, reference):
    assert len(ours) >= len(reference)
    for number, (one, other) in enumerate(zip(ours, reference, strict=False)):
        assert torch.allclose(one, other, atol=1e-7), f"look {number}: {(one - other).abs().max()}"


def test_dag_accumulates_beyond_the_box_and_stops_at_the_first_success(case):
    model, batch = case
    total, visited = torch.zeros_like(batch.images), []
    for _ in range(60):
        shown = (batch.images + total).clamp(0, 1) - batch.images
        visited.append(shown)
        if won(model, batch, shown) >= 0.9:
            break

        def loss(delta):
            lead = margins(model((batch.images + delta).clamp(0, 1)), batch.labels)
            return (lead * batch.valid).relu().sum()

        gradient = slope(loss, total)
        total = total - 0.02 * gradient / gradient.abs().max()
    seen, results = watch("dag?step=0.02&steps=60", model, batch, enough=0.9)
    assert won(model, batch, visited[-1]) >= 0.9, "the case is too hard to tell anything"
    assert_same(seen, visited)
    assert len(seen) == len(visited), "the published attack is neither polished nor looks at its last iterate again"
    assert torch.allclose(results[0].images, batch.images + visited[-1], atol=1e-7)


@pytest.mark.parametrize("masking", ["unlabelled", "hardest", "decaying"])
def test_pdpgd_follows_equation_26_and_the_released_inner_prox(masking, case):
    model, batch = case
    steps, valid, labels, enough = 40, batch.valid, batch.labels, 0.8
    lower, upper = -batch.images, 1 - batch.images
    delta, mean, square = (torch.zeros_like(batch.images) for _ in range(3))
    logs, averaged, visited = -torch.log(valid.sum()) * torch.ones_like(labels, dtype=torch.float64), None, []

    def simplex(counted):
        raw = torch.where(counted, logs.exp(), 0)
        return raw / (1 + raw.sum())

    def prox(point, strength):
        """Of strength times the largest element: by projecting onto the l1 ball, which a bisection finds."""
        low, high = 0.0, float(point.abs().max())
        if float(point.abs().sum()) <= strength:
            return torch.zeros_like(point)
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if float((point.abs() - middle).relu().sum()) > strength else (low, middle)
        return point.clamp(-high, high)

    for step in range(steps):
        visited.append(delta)
        lead = margins(model(batch.images + delta), labels).detach()
        shares = {"unlabelled": 0, "hardest": 1 - enough, "decaying": (1 - enough) * step / (steps - 1)}
        spared, counted = int(shares[masking] * int(valid.sum())), valid
        if spared > 0:
            counted = valid & (lead <= lead[valid].sort(descending=True).values[spared - 1])
        averaged = simplex(valid) if averaged is None else 0.9 * averaged + 0.1 * simplex(counted)
        bids = averaged * counted

        def loss(at, weights=bids):
            return (weights * functional.softplus(margins(model(batch.images + at), labels))).sum()

        gradient = slope(loss, delta)
        mean, square = 0.9 * mean + 0.1 * gradient, 0.999 * square + 0.001 * gradient.square()
        root = (square / (1 - 0.999 ** (step + 1))).sqrt() + 1e-8
        rate = 0.01 * 0.01 ** (step / steps)
        start = (delta - rate * mean / (1 - 0.9 ** (step + 1)) / root).clamp(lower, upper)
        largest, point = root.max(), start
        strength = float(((1 - bids.sum()) * rate / largest).detach())
        for _ in range(5):
            nearer = prox(point - root / largest * (point - start), strength).clamp(lower, upper)
            change = float((nearer - point).norm() / nearer.norm())
            point = nearer
            if not change > 0.01:
                break
        bid = 0.1 * (0.9 * (steps - 1 - step) / (steps - 1) + 0.1) * lead.sign() * counted
        logs = (logs + bid).clamp(-27.63, 27.63)
        delta = point
    seen, _ = watch(f"pdpgd?steps={steps}&masking={masking}", model, batch, enough=enough)
    assert visited[-1].abs().max() > 0.003
    assert_same(seen, visited)


def penalty_slope(constraint, strength, multiplier):
    """As released: for violated constraints the first term has a factor too many."""
    above = multiplier * constraint + 2 * multiplier * strength * constraint + strength**2 * constraint**2 / 2
    below = multiplier / (1 - strength.clamp(min=1) * constraint) ** 2
    return torch.where(constraint >= 0, above, below)


def test_alma_prox_follows_the_released_loop(case):
    model, batch = case
    steps, valid, labels = 24, batch.valid, batch.labels
    lower, upper, pixels = -batch.images, 1 - batch.images, int(valid.sum())
    delta, square = torch.zeros_like(batch.images), torch.zeros_like(batch.images)
    multiplier, strength = torch.ones_like(labels, dtype=torch.float64), torch.full(labels.shape, 0.01).double()
    scale, seen_wrong, first, before, visited = 1.0, torch.zeros_like(valid), steps // 2, None, []

    def constraint(at):
        logits = model(batch.images + at)
        top = logits.sort(dim=1, descending=True).values
        return scale * (margins(logits, labels) + 1e-4) / (top[:, 0] - top[:, 2] + 1e-8)

    def prox(point, metric, weight):
        """By ternary search of the radius, as released."""
        boxed, low, high = point.clamp(lower, upper), 0.0, float(point.clamp(lower, upper).abs().max())

        def cost(radius):
            return float((metric * (boxed.clamp(-radius, radius) - point) ** 2).sum()) + 2 * weight * radius

        for _ in range(120):
            left, right = low + (high - low) / 3, high - (high - low) / 3
            low, high = (left, high) if cost(left) >= cost(right) else (low, right)
        return boxed.clamp(-(low + high) / 2, (low + high) / 2)

    for step in range(steps):
        visited.append(delta)
        wrong = model(batch.images + delta).argmax(1) != labels
        success = float((wrong & valid).sum()) / pixels >= ENOUGH
        first = step if success and step < first else first
        seen_wrong |= wrong
        scale = min(max(scale / (1.02 if success else 0.98), 0.1), 1.0)
        now, mask = constraint(delta).detach(), valid
        spared = int(0.01 * pixels * step / (steps - 1))
        if spared > 0:
            mask = valid & (now <= now[valid].sort(descending=True).values[spared - 1])
        before = now if step == 0 else before
        if (step + 1) % 10 == 0:
            strength = torch.where(seen_wrong | (now * mask <= 0.95 * before), strength, 2 * strength)
            before, seen_wrong = now, torch.zeros_like(valid)
        if step > 0:
            multiplier = 0.8 * multiplier + 0.2 * mask * penalty_slope(now, strength, multiplier)
            multiplier = multiplier.clamp(1e-12, 1)
        price = mask * penalty_slope(now, strength, multiplier)
        gradient = slope(lambda at, price=price: (price * constraint(at)).sum(), delta)
        span = 0.1 / 0.9 * max(steps - first, 1)
        rate = 0.001 * span / (max(step - first, 0) + span)
        square = 0.8 * square + 0.2 * gradient.square()
        metric = (square / (1 - 0.8 ** (step + 1))).sqrt().clamp(min=1e-8)
        delta = prox(delta - rate * gradient / metric, metric, rate)
    seen, _ = watch(f"alma-prox?steps={steps}", model, batch)
    assert visited[-1].abs().max() > 0.003
    assert_same(seen, visited)


@pytest.mark.parametrize("name", ["alma-prox", "pdpgd"])
@pytest.mark.parametrize(
    ("masking", "shares"),
    [("unlabelled", [0, 0, 0]), ("hardest", [0.4, 0.4, 0.4]), ("decaying", [0, 0.2, 0.4])],
)
def test_constraints_are_left_out_by_each_of_the_papers_masks(masking, shares, name, case, monkeypatch):
    model, batch = case
    seen = []

    def spare(constraint, aim, share):
        seen.append(share)
        return aim

    monkeypatch.setattr(masks, "spare_hardest", spare)
    watch(f"{name}?steps=3&masking={masking}", model, batch, enough=0.6)
    assert seen == pytest.approx(shares)


def test_a_search_by_mi_fgsm_adds_up_gradients_of_l1_length_one(case):
    model, batch = case
    radius, steps = 1.0, 4  # the middle of [0, 2]

    def visit(momentum):
        delta, trend, visited = torch.zeros_like(batch.images), torch.zeros_like(batch.images), []
        for _ in range(steps):
            visited.append(delta)

            def loss(at):
                pixels = functional.cross_entropy(model(batch.images + at), batch.labels, reduction="none")
                return (pixels * batch.valid).sum()

            gradient = slope(loss, delta)
            trend = momentum * trend + gradient / gradient.abs().sum()
            step = delta + 0.05 * radius * trend.sign()
            delta = (batch.images + step.clamp(-radius, radius)).clamp(0, 1) - batch.images
        return visited

    remembered, forgotten = visit(1.0), visit(0.0)
    assert not torch.equal(remembered[-1], forgotten[-1]), "the case does not tell the two apart"
    for name, visited in (("mifgsm", remembered), ("ifgsm", forgotten)):
        seen, _ = watch(f"{name}-13x20?rounds=1&steps={steps}", model, batch)
        assert_same(seen, visited)


def bisect(name, model, batch, enough, rounds, steps, starts):
    """As released: of a round the iterate with the most pixels won, the newest of equals; the clean one on failure."""
    low, best, answer, lengths = 0.0, 2.0, torch.zeros_like(batch.images), []
    for _ in range(rounds):
        radius = (low + best) / 2
        most, kept = 0.0, torch.zeros_like(batch.images)
        for start in range(starts):
            delta = torch.zeros_like(batch.images)
            if start:
                draw = uniform(batch.images, batch.ids, 3, f"start-{start}")
                delta = (radius * draw).clamp(-batch.images, 1 - batch.images)
            for _ in range(steps):
                share = won(model, batch, delta)
                if share >= most:
                    most, kept = share, delta
                if share >= enough:
                    lengths.append(float(delta.abs().max()))

                def loss(at):
                    pixels = functional.cross_entropy(model(batch.images + at), batch.labels, reduction="none")
                    return (pixels * batch.valid).sum()

                step = delta + STEP[name] * radius * slope(loss, delta).sign()
                delta = (batch.images + step.clamp(-radius, radius)).clamp(0, 1) - batch.images
        if most >= enough:
            best, answer = radius, kept
        else:
            low = radius
    return answer, lengths


def test_of_iterates_that_win_as_much_a_round_keeps_the_newest():
    most = _Most(torch.zeros(2, 1, 1, 1))
    for step, remaining in enumerate(([3.0, 3.0], [3.0, 4.0])):
        effect = Effect(torch.tensor(remaining), torch.zeros(2), torch.zeros(2), torch.tensor([False, False]))
        look = Look(torch.zeros(2, 1, 1, 1), torch.zeros(2), torch.zeros(2), lambda effect=effect: effect)
        most.show(torch.full((2, 1, 1, 1), 1.0 + step), look, torch.tensor([True, True]))
    assert most.delta.flatten().tolist() == [2.0, 1.0]


STEP = {"pgd-13x40": 0.1 / 3, "pgd-13x4x10": 0.125, "ifgsm-13x20": 0.05}


@pytest.mark.parametrize(("name", "steps"), [("pgd-13x40", 40), ("pgd-13x4x10", 10), ("ifgsm-13x20", 20)])
def test_a_bracketed_search_answers_with_what_the_last_round_that_did_enough_returned(name, steps, case):
    model, batch = case
    starts, rounds, enough = attacks.build(name).starts, 2, 0.7
    answer, lengths = bisect(name, model, batch, enough, rounds, steps, starts)
    size = float(answer.abs().max())
    assert min(lengths) < 0.99 * size, "the smallest look is the answer too, which tells nothing"
    _, results = watch(f"{name}?rounds={rounds}&steps={steps}", model, batch, enough=enough)
    assert results[0].goal == "70%"
    assert torch.allclose(results[0].images, batch.images + answer, atol=1e-7)
    assert float(results[0].size) == pytest.approx(size, abs=1e-7)
    ours = watch(f"{name}?rounds={rounds}&steps={steps}&answer=smallest", model, batch, enough=enough)[1][0]
    assert float(ours.size) == pytest.approx(min(lengths), abs=1e-7)


@pytest.mark.parametrize("name", ["pgd-13x40", "pgd-dlr-13x40", "pgd-13x4x10", "ifgsm-13x20", "mifgsm-13x20"])
def test_a_bracketed_search_that_fails_hands_over_the_clean_image(name, case):
    model, batch = case
    region = {"kind": "rectangle", "top": 0, "left": 0, "height": 3, "width": 3}
    spec = {"kind": name, "steps": 2}
    attack = Attack(algorithm=attacks.build(spec), threat=Threat(), region=region)
    done = attack.perturb(model, batch, 3)
    assert all(torch.equal(result.images, batch.images) for result in done.results)
    assert done.forwards.item() == 1 + 13 * 2 * attack.algorithm.starts, "no bracket is too narrow for another round"
    ours = Attack(algorithm=attacks.build(spec | {"failed": "best"}), threat=Threat(), region=region)
    assert not torch.equal(ours.perturb(model, batch, 3).results[0].images, batch.images)


def test_asma_raises_raw_logits_by_a_factor_of_the_iou(case):
    model, batch = case
    goal, delta, visited = torch.full_like(batch.labels, 2), torch.zeros_like(batch.images), []
    for step in range(6):
        visited.append(delta)
        prediction = model(batch.images + delta).argmax(1)
        hits = [((prediction == label) & (goal == label)).sum() for label in range(4)]
        unions = [((prediction == label) | (goal == label)).sum() for label in range(4)]
        overlaps = [float(hit) / float(union) for hit, union in zip(hits, unions, strict=True) if union > 0]
        factor = 1e-3 + (1e-2 * sum(overlaps) / len(overlaps) if step else 0)

        def loss(at, apart=prediction != goal):
            return (model(batch.images + at)[:, 2] * apart).sum() - at.square().sum()

        delta = (delta + factor * slope(loss, delta)).clamp(-batch.images, 1 - batch.images)
    seen, _ = watch("asma?steps=6&base=0.001&gain=0.01", model, batch, target=2)
    assert_same(seen, visited)


def test_fmn_steps_by_an_l2_length_in_linf_too(case):
    model, batch = case
    valid, labels, steps = batch.valid, batch.labels, 15
    farthest = float(torch.maximum(batch.images, 1 - batch.images).max())
    delta, radius, best, ever, visited = torch.zeros_like(batch.images), math.inf, farthest, False, []
    for step in range(steps):
        visited.append(delta)
        fade = (1 + math.cos(math.pi * step / steps)) / 2
        length, share = 0.1 + 9.9 * fade, 0.001 + 0.049 * fade

        def loss(at):
            return -(margins(model(batch.images + at), labels) * valid).sum() / valid.sum()

        value, gradient, size = float(loss(delta).detach()), slope(loss, delta), float(delta.abs().max())
        success = won(model, batch, delta) >= ENOUGH
        ever, best = ever or success, min(best, size) if success else best
        if success:
            radius = min(radius * (1 - share), best)
        else:
            radius = radius * (1 + share) if ever else size + abs(value) / float(gradient.abs().sum())
        radius = min(radius, farthest)
        delta = (delta + length * gradient / gradient.norm()).clamp(-radius, radius)
        delta = delta.clamp(-batch.images, 1 - batch.images)
    seen, _ = watch(f"fmn?steps={steps}", model, batch)
    assert_same(seen, visited)


@pytest.mark.parametrize("name", ["alma-prox", "pdpgd", "pdgd", "fmn", "pgd-13x40"])
def test_in_a_ball_a_minimal_attack_returns_its_smallest_delta_clamped(name, case):
    model, batch = case
    steps = {"steps": 60 if "13x" not in name else 6}
    (result,) = attack_of(attacks.build({"kind": name, **steps}), RADIUS).perturb(model, batch, 0).results
    free = attack_of(attacks.build({"kind": name, **steps}), math.inf).perturb(model, batch, 0).results[0]
    assert result.goal == "any"
    assert torch.equal(result.images, batch.images + (free.images - batch.images).clamp(-RADIUS, RADIUS))


def test_projected_adam_returns_its_last_iterate_of_as_many_passes_as_steps(case):
    model, batch = case
    seen = []
    handle = model.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].detach().clone()))
    attack = attack_of(attacks.build("padam-ce?steps=5"), RADIUS)
    (result,) = attack.perturb(model, batch, 3).results
    handle.remove()
    assert len(seen) == 5
    assert attack.passes() == (5, 5)
    assert result.goal == "any"
    longer = attack_of(attacks.build("padam-ce?steps=6"), RADIUS)
    model.register_forward_hook(lambda _, inputs, __: seen.append(inputs[0].detach().clone()))
    longer.perturb(model, batch, 3)
    assert torch.equal(result.images, seen[-1]), "the last iterate of five steps is where the sixth begins"


@pytest.mark.parametrize("name", ["bim", "segpgd", "cospgd", "pgd-region", "mi-fgsm"])
def test_an_attack_of_equal_steps_returns_its_last_iterate_and_looks_no_further(name, case):
    model, batch = case
    attack = attack_of(attacks.build(f"{name}?steps=6"), RADIUS)
    (result,) = attack.perturb(model, batch, 3).results
    assert result.goal == "any"
    assert attack.passes() == (6, 6)
    seen, _ = watch(f"{name}?steps=6&keep=best", model, batch, radius=RADIUS)  # which looks at the last iterate too
    assert torch.allclose(result.images, batch.images + seen[-1], atol=1e-12)


def test_apgd_on_the_logit_ratio_returns_its_iterate_of_the_highest_loss():
    model = toy_model()
    batch = toy_batch(model).pick([0])

    def ratio(delta):
        logits = model((batch.images + delta).clamp(0, 1)).detach()
        order = logits.sort(dim=1, descending=True).values
        return float((-margins(logits, batch.labels) / (order[:, 0] - order[:, 2] + 1e-12) * batch.valid).sum())

    seen, (result,) = watch("apgd-dlr?steps=40", model, batch, radius=RADIUS)
    values = [ratio(delta) for delta in seen]
    assert result.goal == "any"
    assert ratio(result.images - batch.images) == pytest.approx(max(values), abs=1e-6)
    assert values[-1] < max(values) - 1e-3, "the last iterate is the best too, which tells nothing"


def test_ddn_moves_on_a_sphere_that_shrinks_on_success(case):
    model, batch = case
    steps, radius = 16, 1.0
    delta, visited, smallest = torch.zeros_like(batch.images), [], None
    farthest = float(torch.maximum(batch.images, 1 - batch.images).norm())
    for step in range(steps):
        visited.append(delta)

        def loss(images):
            return (functional.cross_entropy(model(images), batch.labels, reduction="none") * batch.valid).sum()

        gradient, success = slope(loss, (batch.images + delta).clamp(0, 1)), won(model, batch, delta) >= 0.3
        if success and (smallest is None or delta.norm() <= smallest.norm()):
            smallest = delta
        radius = min(radius * (0.95 if success else 1.05), farthest)
        length = 0.01 + 0.99 * (1 + math.cos(math.pi * step / steps)) / 2
        moved = delta + length * gradient / gradient.norm()
        rounded = (255 * radius * moved / moved.norm()).round() / 255
        delta = rounded.clamp(-batch.images, 1 - batch.images)
    seen, results = watch(f"ddn?steps={steps}", model, batch, enough=0.3, norm="l2")
    assert smallest is not None, "the case is too hard to tell anything"
    assert_same(seen, visited)
    assert torch.allclose(results[0].images, batch.images + smallest, atol=1e-7)


@pytest.mark.parametrize("name", ["sea-mce", "sea-bce", "sea-jsd", "sea-msl"])
def test_sea_returns_the_newest_of_the_iterates_with_the_fewest_right_pixels(name):
    model = toy_model()
    batch = toy_batch(model).pick([0])
    seen, results = watch(f"{name}?steps=30", model, batch, radius=RADIUS)
    assert [result.goal for result in results] == ["any"]
    last = [delta for delta in seen[:-1] if delta.abs().max() <= RADIUS + 1e-9]
    right = [won(model, batch, delta) for delta in last]
    newest = max(number for number, share in enumerate(right) if share == max(right))
    assert torch.allclose(results[0].images, (batch.images + last[newest]).clamp(0, 1), atol=1e-12)


def test_sea_on_rare_classes_asks_for_the_weights_of_a_training_split():
    model = toy_model()
    batch = toy_batch(model)
    algorithm, threat = attacks.build("sea-mce-bal?steps=20"), Threat(radius=RADIUS)
    with pytest.raises(ValueError, match=r"sea-mce-bal\(steps=20\) weighs.* training split: give weights=<dataset>"):
        Attack(algorithm=algorithm, threat=threat)
    weighted, even = (
        Attack(algorithm=algorithm, threat=threat, weights=weights).perturb(model, batch, 0).results[0].images
        for weights in (WEIGHTS, (1.0, 1.0, 1.0, 1.0))
    )
    unbalanced = attack_of(attacks.build("sea-mce?steps=20"), RADIUS).perturb(model, batch, 0).results[0].images
    assert not torch.equal(weighted, even)
    assert torch.equal(even, unbalanced)


def test_what_is_kept_is_said_where_it_is_not_what_the_name_says():
    plain = Attack(algorithm=attacks.build("padam-ce"), threat=Threat(radius=RADIUS))
    other = Attack(algorithm=attacks.build("padam-ce"), threat=Threat(radius=RADIUS), keep="best")
    assert (plain.keep, plain.name) == ("last", "padam-ce")
    assert (other.keep, other.name) == ("best", "padam-ce keeping best")
    assert Attack(algorithm=attacks.build("pgd"), threat=Threat(radius=RADIUS)).keep == "best"
    with pytest.raises(ValueError, match="does not seek the smallest"):
        Attack(algorithm=attacks.build("pgd"), threat=Threat(radius=RADIUS), keep="smallest")
