"""The task of the package: each greeting becomes a letter. robot.py beside it is the work item interface; keep it with this file."""

import robot

for item in robot.items():
    with item:
        greeting = item.payload["greeting"]
        item.create_output({"greeting": greeting, "letter": f"{greeting},\nwelcome."})
