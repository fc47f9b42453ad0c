"""What perturbations need of the data: corruptions want three channels, which are colours."""

from __future__ import annotations

from ..core import BadInput
from ..data import load as load_data
from ..data import readable
from .plan import Plan


def check_channels(plan: Plan) -> None:
    """Refuse perturbations where the first image that can be read has not the channels they need."""
    wanted = {change.channels: change.label for change in plan.changes() if change.channels is not None}
    for data in map(load_data, plan.data) if wanted else ():
        channels = next((len(sample.image) for sample in readable(data, plan.ids(data))), None)
        for number, label in wanted.items():
            if channels not in (None, number):
                raise BadInput(
                    f"{label}: corruptions need images of {number} channels, those of {data.label} have {channels}; "
                    "leave corruptions out"
                )
