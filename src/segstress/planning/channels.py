"""What corruptions need of the data: three channels that are colours."""

from __future__ import annotations

from ..core import BadInput
from ..corruptions.corrupt import Corrupt
from ..data import load as load_data
from ..data import readable
from .plan import Plan


def check_channels(plan: Plan) -> None:
    """Refuse corruptions where the first image that can be read is not of three channels."""
    corruptions = [change.label for change in plan.changes() if isinstance(change, Corrupt)]
    if not corruptions:
        return
    for data in map(load_data, plan.data):
        channels = next((len(sample.image) for sample in readable(data, plan.ids(data))), 3)
        if channels != 3:
            raise BadInput(
                f"{corruptions[0]}: corruptions need images of 3 channels, those of {data.label} have {channels}; "
                "leave corruptions out"
            )
