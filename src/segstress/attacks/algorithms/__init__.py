"""One file for each algorithm; a new file registers itself."""

from ...core import import_all

import_all(__name__, __path__)
