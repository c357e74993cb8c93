"""Orders are read, each is processed, and one report says what became of all of them, also of those that failed."""

import csv
import io
import sys

import control_room_robot as robot
from order_letters import reminder
from order_taxes import gross


def produce():
    """Makes an item for each row of the table."""
    for item in robot.items():
        with item:
            for row in csv.DictReader(io.StringIO(item.read_text(item.payload["file"]))):
                item.create_output(row)


def consume():
    """Processes an order. What becomes of it is an output in either case, so that the report has it."""
    for item in robot.items():
        with item:
            order = item.payload["order"]
            try:
                total = process(item.payload)
            except robot.Failure as failure:
                # The output of an item that the robot itself fails travels on.
                item.create_output({"order": order, "state": "failed", "reason": f"{failure.code}: {failure}"})
                raise
            item.create_output({"order": order, "state": "done", "total": str(total)})


def process(order):
    if order["customer"] == "":
        raise robot.BusinessFailure("NO_CUSTOMER", f"the order {order['order']} has no customer")
    letter = reminder(order["customer"], order["order"], order["amount"])
    robot.save_artifact(f"reminders/{order['order']}.txt", letter.encode())
    return gross(order["amount"])


def report():
    """Starts when all orders are processed, and takes what became of them into one table."""
    rows = []
    for item in robot.items():
        with item:
            rows.append(item.payload)
    rows.sort(key=lambda row: row["order"])
    table = io.StringIO()
    writer = csv.DictWriter(table, ["order", "state", "total", "reason"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    robot.save_artifact("report.csv", table.getvalue().encode())
    print(table.getvalue(), flush=True)


TASKS = {"produce": produce, "consume": consume, "report": report}

if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in TASKS:
        raise SystemExit(f"usage: python tasks.py {' | '.join(TASKS)}")
    TASKS[sys.argv[1]]()
