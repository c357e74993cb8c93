"""A robot in plain Python: what each task does is what the tests look at."""
import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

E = os.environ
WORKSPACE, STEP_RUN = E["RC_WORKSPACE_ID"], E["RC_ACTIVITY_RUN_ID"]
PROCESS = f"{E['RC_API_PROCESS_HOST']}/process-v1/workspaces/{WORKSPACE}/processes/{E['RC_PROCESS_ID']}"
RUN = f"{PROCESS}/runs/{E['RC_PROCESS_RUN_ID']}/robotRuns/{STEP_RUN}"
ITEMS = f"{E['RC_API_WORKITEM_HOST']}/json-v1/workspaces/{WORKSPACE}/workitems"


def call(method, url, body=None):
    token = E["RC_API_PROCESS_TOKEN"] if "/process-v1/" in url else E["RC_API_WORKITEM_TOKEN"]
    headers = {"authorization": f"Bearer {token}", "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, method=method, headers=headers)
    with urllib.request.urlopen(request) as response:
        return json.loads(response.read() or b"null")


def release(item, state, exception=None):
    call("POST", f"{RUN}/release-work-item", {"workItemId": item, "state": state, **({"exception": exception} if exception else {})})


def data_of(item):
    """The payload; as in the libraries, an item without one has an empty one."""
    try:
        return call("GET", f"{ITEMS}/{item}/data")
    except urllib.error.HTTPError as error:
        if error.code == 404:
            return {}
        raise


def payloads():
    item = E["RC_WORKITEM_ID"]
    while item:
        yield item, data_of(item)
        item = call("POST", f"{RUN}/reserve-next-work-item")["workItemId"]


def produce():
    for item, payload in payloads():
        for n in range(1, payload["count"] + 1):
            output = call("POST", f"{PROCESS}/work-items/{item}/output", {"payload": {"n": n}})
            print(f"made {n} as {output['id']}")
        release(item, "COMPLETED")


def consume():
    artifacts = E["ROBOT_ARTIFACTS"]
    for item, payload in payloads():
        n = payload["n"]
        print(f"working on {n}")
        print(f"a warning about {n}", file=sys.stderr)
        once = os.path.join(E["ONCE"], str(n)) if "ONCE" in E else None
        if n == 2 and once and not os.path.exists(once):
            open(once, "w").close()
            release(item, "FAILED", {"type": "BUSINESS", "code": "NO_TWOS", "message": "two is not wanted at first"})
            continue
        os.makedirs(os.path.join(artifacts, "numbers"), exist_ok=True)
        with open(os.path.join(artifacts, "numbers", f"{n}.txt"), "w") as file:
            file.write(f"number {n}\n")
        call("POST", f"{PROCESS}/work-items/{item}/output", {"payload": {"square": n * n}})
        release(item, "COMPLETED")


def environment():
    with open(os.path.join(E["ROBOT_ARTIFACTS"], "environment.json"), "w") as file:
        json.dump({"env": dict(E), "cwd": os.getcwd(), "files": sorted(os.listdir("."))}, file)


def nothing():
    print("nothing to do")


def crash():
    with open(os.path.join(E["ROBOT_ARTIFACTS"], "log.txt"), "w") as file:
        file.write("before the crash\n")
    print("about to fail")
    sys.exit(3)


def tree():
    """A child and a grandchild that do not go by themselves, even when asked to."""
    # Forked, since a step run with a short time limit has to get here on a busy machine too.
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        grandchild = os.fork()
        if grandchild == 0:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        else:
            os.write(write, str(grandchild).encode())
        time.sleep(600)
        os._exit(0)
    grandchild = int(os.read(read, 20))
    with open(E["PIDS"] + ".new", "w") as file:
        json.dump([os.getpid(), child, grandchild], file)
    os.rename(E["PIDS"] + ".new", E["PIDS"])
    with open(os.path.join(E["ROBOT_ARTIFACTS"], "started.txt"), "w") as file:
        file.write("started\n")
    time.sleep(600)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
