"""What targeted attacks may want; each file registers its own."""

from ...core import import_all

import_all(__name__, __path__)
