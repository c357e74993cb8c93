"""The robot side of a control room, with Python's standard library alone: take this file with you.

    import robot

    for item in robot.items():
        with item:
            text = item.read_text("orders.csv")
            if not text:
                raise robot.BusinessFailure("EMPTY", "the table is empty")
            item.create_output({"rows": 3}, files={"report.txt": b"..."})

A worker gives the program its environment (`RC_WORKSPACE_ID`, `RC_API_WORKITEM_HOST` and so on). Leaving `with item` well
completes the item; `BusinessFailure` and `ApplicationFailure` fail it, and the program goes on with the next; any other
exception fails it as APPLICATION and ends the program.

Without a worker, or with `RC_WORKITEM_ADAPTER=FileAdapter` as `signalbox robot run` sets it, items are those of local files:
the list in `RC_WORKITEM_INPUT_PATH` (`[{"payload": ..., "files": {"name": "path"}}]`), else one empty item; outputs go to the
list in `RC_WORKITEM_OUTPUT_PATH`, and failures are printed.
"""

import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class Failure(Exception):
    """Fails the work item; `code` and `message` are kept with it."""

    type = "APPLICATION"

    def __init__(self, code, message):
        super().__init__(message)
        self.code = code


class ApplicationFailure(Failure):
    """The work went wrong although the data may be good: the item may be tried again."""


class BusinessFailure(Failure):
    """The data of the item are bad or missing: it is not tried again by itself."""

    type = "BUSINESS"


class ServiceError(Exception):
    """The service refused a call. `LEASE_LOST`: the step run has ended, and the program should too."""

    def __init__(self, status, code, message):
        super().__init__(f"{code} ({status}): {message}")
        self.status = status
        self.code = code


def _env(name):
    value = os.environ.get(name, "")
    if value == "":
        raise SystemExit(f"{name} is not set: this program is started by a worker, as a task of a task package")
    return value


def _open(request, repeatable):
    """Sends a request; one that is safe to repeat is, for about a minute, while the service is away."""
    pause = 0.5
    while True:
        try:
            return urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            away = error.code in (429, 500, 502, 503, 504)
            body = error.read()
            if not (away and repeatable and pause < 30):
                raise _service_error(error.code, body) from None
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            if not (repeatable and pause < 30):
                raise
        time.sleep(pause)
        pause *= 2


def _service_error(status, body):
    try:
        error = json.loads(body)["error"]
        return ServiceError(status, error["code"], error["message"])
    except (ValueError, KeyError, TypeError):
        return ServiceError(status, f"HTTP_{status}", "the service refused the call")


def _call(method, api, path, body=None, repeatable=True):
    """A call of the process or the work item interface: JSON in, JSON out."""
    headers = {"Authorization": f"Bearer {_env(f'RC_API_{api}_TOKEN')}", "Content-Type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    url = _env(f"RC_API_{api}_HOST").rstrip("/") + path
    with _open(urllib.request.Request(url, data=data, headers=headers, method=method), repeatable) as answer:
        return json.loads(answer.read())


def _workspace(prefix):
    return f"/{prefix}/workspaces/{_env('RC_WORKSPACE_ID')}"


def _process():
    return f"{_workspace('process-v1')}/processes/{_env('RC_PROCESS_ID')}"


def _step_run():
    return f"{_process()}/runs/{_env('RC_PROCESS_RUN_ID')}/robotRuns/{_env('RC_ACTIVITY_RUN_ID')}"


def _data(item_id, path):
    return f"{_workspace('json-v1')}/workitems/{item_id}/{path}"


def _payload(item_id):
    """The payload of an item; an item without one is a 404."""
    try:
        return _call("GET", "WORKITEM", _data(item_id, "data"))
    except ServiceError as error:
        if error.status == 404:
            return None
        raise


def _upload(item_id, name, content):
    """Asks where a file goes, and sends it there: the fields of the form first, the file last, and no token."""
    form = _call("POST", "WORKITEM", _data(item_id, "files"), {"fileName": name, "fileSize": len(content)})
    boundary = uuid.uuid4().hex
    lines = []
    for field, value in form["fields"].items():
        lines.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{value}\r\n'.encode())
    quoted = name.replace('"', "%22")
    lines.append(f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n\r\n'.encode())
    body = b"".join(lines) + content + f"\r\n--{boundary}--\r\n".encode()
    headers = {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    _open(urllib.request.Request(form["url"], data=body, headers=headers, method="POST"), True).close()


class Item:
    """A work item in hand."""

    def __init__(self, item_id):
        self.id = item_id
        self.payload = _payload(item_id)

    def files(self):
        """The files by name, with their ids; those of local files with their paths."""
        listed = _call("GET", "WORKITEM", _data(self.id, "files"))
        return {file["fileName"]: file["fileId"] for file in listed}

    def _fetch(self, file_id):
        url = _call("GET", "WORKITEM", _data(self.id, f"files/{file_id}"))["url"]
        with _open(urllib.request.Request(url), True) as answer:
            return answer.read()

    def read(self, name):
        """The bytes of a file."""
        files = self.files()
        if name not in files:
            known = ", ".join(sorted(files)) or "none"
            raise BusinessFailure("FILE_MISSING", f'the work item has no file "{name}"; its files: {known}')
        return self._fetch(files[name])

    def read_text(self, name):
        return self.read(name).decode("utf-8")

    def create_output(self, payload, files=None):
        """Makes an output with files (bytes by name). It travels on when this item is completed, or failed by a `Failure`."""
        path = f"{_process()}/work-items/{self.id}/output"
        # Not repeated: the service may have created it although the response was lost.
        output = _call("POST", "PROCESS", path, {"payload": payload}, repeatable=False)["id"]
        for name, content in (files or {}).items():
            _upload(output, name, content)

    def _release(self, state, exception=None):
        body = {"workItemId": self.id, "state": state}
        if exception is not None:
            body["exception"] = exception
        _call("POST", "PROCESS", f"{_step_run()}/release-work-item", body)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, _trace):
        if error is None:
            self._release("COMPLETED")
            return False
        if isinstance(error, ServiceError) and error.code == "LEASE_LOST":
            return False
        if isinstance(error, Failure):
            self._release("FAILED", {"type": error.type, "code": error.code, "message": str(error)})
            return True
        if isinstance(error, Exception):
            self._release("FAILED", {"type": "APPLICATION", "code": kind.__name__, "message": str(error)})
        return False


def _folder_of_artifacts():
    return pathlib.Path(os.environ.get("ROBOT_ARTIFACTS", "output"))


class _LocalItems:
    """The lists of items and outputs in local files."""

    def __init__(self):
        default = _folder_of_artifacts() / "work-items-in" / "workitems.json"
        given = os.environ.get("RC_WORKITEM_INPUT_PATH") or os.environ.get("RPA_INPUT_WORKITEM_PATH")
        self.input = pathlib.Path(given or default)
        out = os.environ.get("RC_WORKITEM_OUTPUT_PATH") or os.environ.get("RPA_OUTPUT_WORKITEM_PATH")
        self.output = pathlib.Path(out or _folder_of_artifacts() / "work-items-out" / "workitems.json")
        if self.input.absolute() == self.output.absolute():
            raise SystemExit(f"{self.input}: input and output are the same file; choose another file for the outputs")
        self.outputs = []
        self.made = 0

    def read(self):
        if not (os.environ.get("RC_WORKITEM_INPUT_PATH") or os.environ.get("RPA_INPUT_WORKITEM_PATH")):
            if not self.input.exists():
                return [{}]
        try:
            found = json.loads(self.input.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise SystemExit(f"{self.input}: {error}") from None
        if not (isinstance(found, list) and all(isinstance(item, dict) for item in found)):
            raise SystemExit(f'{self.input}: expected a list of {{"payload", "files"}}')
        return found

    def write(self):
        self.output.parent.mkdir(parents=True, exist_ok=True)
        self.output.write_text(json.dumps(self.outputs, indent=2) + "\n", "utf-8")


class _LocalItem(Item):
    """A work item of a local file. The paths of its files are relative to the list."""

    def __init__(self, lists, number, found):
        self.id = str(number)
        self.payload = found.get("payload")
        self._lists = lists
        self._files = found.get("files") or {}
        self._made = []

    def files(self):
        return {name: str(self._lists.input.parent / path) for name, path in self._files.items()}

    def _fetch(self, file_id):
        return pathlib.Path(file_id).read_bytes()

    def create_output(self, payload, files=None):
        lists = self._lists
        lists.made += 1
        placed = {}
        for name, content in (files or {}).items():
            if name in ("", ".", "..") or "/" in name or "\\" in name:
                raise ValueError(f"{name!r}: expected a file name without a path")
            path = lists.output.parent / f"output-{lists.made}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
            placed[name] = f"{path.parent.name}/{name}"
        self._made.append({"payload": payload, "files": placed})

    def _release(self, state, exception=None):
        self._lists.outputs += self._made
        self._lists.write()
        if state == "FAILED":
            print(f"item {self.id} failed: {exception['type']} {exception['code']}: {exception['message']}", file=sys.stderr)


def _is_local():
    adapter = os.environ.get("RC_WORKITEM_ADAPTER", "")
    return adapter.endswith("FileAdapter") or (adapter == "" and not os.environ.get("RC_ACTIVITY_RUN_ID"))


def items():
    """All items that wait for this step, one at a time: use each in a `with`."""
    if _is_local():
        lists = _LocalItems()
        found = lists.read()
        lists.write()
        for number, item in enumerate(found, 1):
            yield _LocalItem(lists, number, item)
        return
    item_id = os.environ.get("RC_WORKITEM_ID") or None
    while True:
        if item_id is None:
            item_id = _call("POST", "PROCESS", f"{_step_run()}/reserve-next-work-item", {})["workItemId"]
        if item_id is None:
            return
        yield Item(item_id)
        item_id = None


def save_artifact(name, content):
    """Keeps a file (bytes) with the step run; the worker uploads it. The name may be a path."""
    path = _folder_of_artifacts() / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
