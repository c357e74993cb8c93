"""A reminder for each order, written with libraries that `conda.yaml` lists."""

import control_room_robot as robot
from order_letters import reminder
from order_taxes import gross

for item in robot.items():
    with item:
        order, customer, amount = (item.payload[name] for name in ("order", "customer", "amount"))
        letter = reminder(customer, order, amount)
        robot.save_artifact(f"reminders/{order}.txt", letter.encode())
        item.create_output({"order": order, "due": str(gross(amount))})
        print(f"reminded {customer} of the order {order}", flush=True)
