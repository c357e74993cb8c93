"""The tasks of the package: a table of orders becomes one work item per order, and each order becomes an invoice."""

import csv
import io
import sys
from decimal import ROUND_HALF_UP, Decimal

import robot


def read_orders():
    """The producer: reads the table that is attached to its item and makes an output for each row."""
    for item in robot.items():
        with item:
            table = item.read_text(item.payload["file"])
            for row in csv.DictReader(io.StringIO(table)):
                item.create_output({**row, "amount": float(row["amount"])})
                print(f"read the order {row['order']}", flush=True)


def make_invoice():
    """The consumer: writes the invoice of one order."""
    for item in robot.items():
        with item:
            order, customer = item.payload["order"], item.payload["customer"]
            if customer == "":
                print(f"the order {order} is refused", flush=True)
                raise robot.BusinessFailure("NO_CUSTOMER", f"the order {order} has no customer")
            # With 19 % tax, in whole cents.
            amount = Decimal(str(item.payload["amount"]))
            total = (amount * Decimal("1.19")).quantize(Decimal("0.01"), ROUND_HALF_UP)
            invoice = f"Invoice {order} for {customer}: EUR {total}\n".encode()
            # Stored with the step run, for people; the file of the output is for the program that collects the outputs.
            robot.save_artifact(f"invoices/{order}.txt", invoice)
            item.create_output({"order": order, "total": float(total)}, files={f"invoice-{order}.txt": invoice})
            print(f"made the invoice of order {order}", flush=True)


TASKS = {"read-orders": read_orders, "make-invoice": make_invoice}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in TASKS:
        raise SystemExit(f"usage: python3 tasks.py {' | '.join(TASKS)}")
    TASKS[sys.argv[1]]()
