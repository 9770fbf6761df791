"""What takes long is told by the logger `tilewright`."""

import logging


def tell(text: str) -> None:
    """Tells that a stage of a long call begins."""
    logging.getLogger("tilewright").warning("%s (some seconds)", text)
