"""The loop: batches, recipe, optimiser, schedule, validation, checkpoints; it knows only torch.distributed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import torch

from ..core import BadInput, Batch, perturbations, seed_of
from .batches import Reader
from .checkpoints import Checkpoints, State
from .processes import add_gradients, rank, share_first, total, world
from .task import Task
from .validation import validate


@dataclass(frozen=True)
class Moment:
    """One step, as it is shown."""

    step: int  # steps done
    steps: int  # of the whole training
    loss: float
    accuracy: float


@dataclass
class Watcher:
    """Who looks on; the command line draws it."""

    step: Callable[[Moment], None] = lambda moment: None
    epoch: Callable[[dict[str, Any]], None] = lambda entry: None
    warn: Callable[[str], None] = lambda message: None


def fit(task: Task, checkpoints: Checkpoints, watcher: Watcher | None = None) -> State:
    """Train from wherever the folder stands to the end."""
    task.check()
    with torch.random.fork_rng():
        return Loop(task, checkpoints, watcher or Watcher()).run()


@dataclass
class Loop:
    """A training under way."""

    task: Task
    checkpoints: Checkpoints
    watcher: Watcher = field(default_factory=Watcher)
    optimiser: torch.optim.Optimizer = field(init=False)
    state: State = field(init=False)

    def __post_init__(self) -> None:
        self.optimiser = self.task.optimiser.make(self.task.network)
        self.state = self.checkpoints.load_state(self.task.network, self.optimiser)

    def run(self) -> State:
        """Run all epochs that are left."""
        task, state = self.task, self.state
        try:
            for epoch in range(state.step // task.steps, task.epochs):
                for parts in task.train.steps(epoch, task.batch_size, task.parts, skip=state.step % task.steps):
                    self.step(parts)
                    if state.step % task.save_every == 0 and state.step % task.steps:
                        self._save_state()
                self._close(epoch)
        except BadInput as error:
            raise BadInput(f"training stopped after step {state.step}: {error}") from error
        return state

    def step(self, parts: list[Batch]) -> None:
        """Take one step of the optimiser on all parts of all processes."""
        task, state = self.task, self.state
        # Every draw of a step, such as dropout's, follows from its number: a resumed run draws the same.
        torch.manual_seed(seed_of(task.seed, f"process-{rank()}", f"step-{state.step}"))
        task.network.train()
        pixels = total(
            torch.tensor([[part.valid.sum(), part.valid.numel()] for part in parts], device=task.device).sum(0)
        )
        valid, every = pixels.clamp(min=1).tolist()
        first = state.step * task.batch_size + rank() * task.batch_size // world()
        sums = torch.zeros(2, dtype=torch.float64, device=task.device)
        for part in parts:
            with torch.autocast(torch.device(task.device).type, torch.bfloat16, enabled=task.mixed):
                losses = task.recipe.loss(task.network, part.to(task.device), first, self._harm)
            loss = losses.valid / valid + losses.every / every
            loss.backward()
            sums += torch.stack([loss.detach().double(), losses.hits / valid])
            first += len(part)
        self._update(*total(sums).tolist())

    def _update(self, loss: float, accuracy: float) -> None:
        """Move the weights; stop where they are no numbers any more."""
        task, state = self.task, self.state
        add_gradients(task.network.parameters())
        factor = task.schedule.factor(state.step / (task.epochs * task.steps))
        for group in self.optimiser.param_groups:
            group["lr"] = factor * group["full"]
        self.optimiser.step()
        self.optimiser.zero_grad()
        # A sum is no number if one of its terms is none, and costs a tenth of looking at each of them.
        sound = torch.stack([parameter.detach().sum() for parameter in task.network.parameters()]).isfinite().all()
        if not (math.isfinite(loss) and sound):
            raise BadInput(
                f"the loss is {loss:g} and would ruin the weights; the checkpoint before stays in "
                f"{self.checkpoints.folder}; try a smaller rate or a longer warm-up in another --out"
            )
        state.step += 1
        state.loss += loss
        state.accuracy += accuracy
        self.watcher.step(Moment(state.step, task.epochs * task.steps, loss, accuracy))

    def _harm(self, batch: Batch) -> Batch:
        """Let the inner attack see the network as it will be used."""
        task = self.task
        task.network.eval()
        perturbed = task.attack.perturb(task.network, batch, seed_of(task.seed, "attack", f"step-{self.state.step}"))
        task.network.train()
        return replace(batch, images=perturbed.results[0].images)

    def _close(self, epoch: int) -> None:
        """End an epoch: validate when it is time, keep the models, then the state that says so."""
        task, state = self.task, self.state
        share_first(task.network.buffers())
        entry: dict[str, Any] = {"epoch": epoch + 1}
        entry |= {"loss": state.loss / task.steps, "accuracy": state.accuracy / task.steps}
        if task.validation and ((epoch + 1) % task.every == 0 or epoch + 1 == task.epochs):
            entry |= {"validation": self._validate(task.validation)}
        state.history.append(entry)
        state.loss = state.accuracy = 0.0
        self.watcher.epoch(entry)
        self._save_models(entry)
        self._save_state()

    def _validate(self, reader: Reader) -> dict[str, dict[str, float]]:
        """Return the scores clean and under the probe."""
        task = self.task
        looks = {"clean": perturbations.build("clean")} | ({task.probe.label: task.probe} if task.probe else {})
        return {name: validate(task.network, reader, look, task.device, task.seed) for name, look in looks.items()}

    def _save_models(self, entry: Mapping[str, Any]) -> None:
        """Save the last and the best: best under the probe where there is one, else clean."""
        card = {**self.task.card, **entry}
        figures = list(entry.get("validation", {}).values())
        better = bool(figures) and figures[-1]["cmiou"] > self.state.best
        if better:
            self.state.best = figures[-1]["cmiou"]
        if rank() == 0:
            for name in ["best"] * better + ["last"]:
                self.checkpoints.save_model(self.task.network.result(), name, card)

    def _save_state(self) -> None:
        if rank() == 0:
            self.checkpoints.save_state(self.task.network, self.optimiser, self.state)
