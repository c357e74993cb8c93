"""Letters to customers."""

from order_taxes import gross


def reminder(customer, order, amount):
    return f"Dear {customer},\n\nEUR {gross(amount)} are due for the order {order}.\n"
