"""Selected images on their way to the people who label them, and back: one file for each format."""

from ...core import import_all

import_all(__name__, __path__)
