"""The embedded example: models and images that come with the package."""

from __future__ import annotations

from typing import Any

PLAN: dict[str, Any] = {
    "models": ["compact:cnn-normal", "compact:cnn-pgd-at-100"],
    "data": ["shapes:test"],
    "battery": "quick",
    "eps": "8/255",
}
