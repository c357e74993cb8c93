"""What is due for an order."""

from decimal import ROUND_HALF_UP, Decimal


def gross(amount):
    """The amount with 19 % tax, in whole cents."""
    return (Decimal(str(amount)) * Decimal("1.19")).quantize(Decimal("0.01"), ROUND_HALF_UP)
