"""What goes wrong by the user's hand, said in one line: what was expected, what was found, what to do."""


class BadInput(ValueError):
    """The whole request cannot be served: shown as one line, exit code 2."""


class BadImage(BadInput):
    """One image, mask or prediction cannot be used: an error row, and the run goes on."""
