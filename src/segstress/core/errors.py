"""What goes wrong by the user's hand, said in one line: what was expected, what was found, what to do."""


class BadInput(ValueError):
    """The whole request cannot be served: shown as one line, exit code 2."""

    def __init__(self, message: object = "") -> None:
        super().__init__(printable(str(message)))


def printable(text: str) -> str:
    """Return text that can be printed and stored; what is no UTF-8 in the name of a file is written as an escape."""
    return text.encode("utf-8", "backslashreplace").decode()


class BadImage(BadInput):
    """One image, mask or prediction cannot be used: an error row, and the run goes on."""
