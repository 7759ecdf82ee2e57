"""Client of the test kit of cluster-apiserver: a disposable server, faults, clock, request log, history. Standard library only.

    with testkit.start() as server:
        server.testkit.fault({"verb": "create", "resource": "configmaps", "times": 1, "error": {"code": 503}})
        status, value = server.api("GET", "/api/v1/namespaces")

Every method of Testkit is one endpoint of docs/testkit/control-api.md, and returns its JSON.
"""

import json
import os
import ssl
import subprocess
import urllib.error
import urllib.parse
import urllib.request

timeout_seconds = 60


class TestkitError(Exception):
    """An error response of the control API."""

    __test__ = False  # Not a test, for pytest.

    def __init__(self, status, message):
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


def start(*flags, command=None):
    """Starts a server with flags such as "--identity=kubernetes". It ends with this process, or with close()."""
    command = command or os.environ.get("CLUSTER_APISERVER", "cluster-apiserver")
    environment = {**os.environ, "CLUSTER_PARENT_PID": str(os.getpid())}
    process = subprocess.Popen([command, "testserver", *flags], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{command} testserver ended with {process.wait()}")
    return Server(json.loads(line), process)


class Server:
    """A running server: its line of JSON as attributes (url, ca, token, kubeconfig), the API and the test kit."""

    def __init__(self, line, process=None):
        self.url, self.ca, self.token, self.kubeconfig = (line.get(name) for name in ("url", "ca", "token", "kubeconfig"))
        self.tls = ssl.create_default_context(cadata=self.ca)
        self.testkit = Testkit(line["testkit"]["url"], line["testkit"]["token"], self.tls)
        self._process = process

    def api(self, method, path, body=None, token=None, content_type="application/json"):
        """Sends a request to the API, as the administrator; returns its status and JSON."""
        return _send(self.tls, method, self.url + path, token or self.token, body, content_type)

    def close(self):
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process.stdout.close()
            self._process = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Testkit:
    __test__ = False

    def __init__(self, url, token, tls):
        self.url, self.token, self.tls = url, token, tls

    def call(self, method, path, body=None, **query):
        """Sends a request to the control API; returns its JSON, or raises TestkitError."""
        given = {name: value for name, value in query.items() if value is not None}
        url = self.url + path + ("?" + urllib.parse.urlencode(given) if given else "")
        status, value = _send(self.tls, method, url, self.token, body, "application/json")
        if status >= 300:
            raise TestkitError(status, value["error"])
        return value

    def fault(self, rule):
        return self.call("POST", "/faults", rule)

    def faults(self):
        return self.call("GET", "/faults")["faults"]

    def remove_fault(self, id):
        self.call("DELETE", f"/faults/{id}")

    def clear_faults(self):
        self.call("DELETE", "/faults")

    def check_faults(self):
        """Raises TestkitError if a rule never fired."""
        self.call("POST", "/faults/check")

    def now(self):
        return self.call("GET", "/clock")["now"]

    def advance(self, by):
        """Moves the clock by a duration such as "1h30m", and runs what was due meanwhile; returns the new time."""
        return self.call("POST", "/clock/advance", {"by": by})["now"]

    def set_clock(self, to):
        return self.call("POST", "/clock/set", {"to": to})["now"]

    def requests(self, **filter):
        return self.call("GET", "/requests", **filter)["requests"]

    def clear_requests(self):
        self.call("DELETE", "/requests")

    def idle(self, timeout=None):
        """Waits until the controllers have nothing to do and watchers got everything."""
        self.call("POST", "/idle", {} if timeout is None else {"timeout": timeout})

    def history(self, object):
        """Versions of an object such as "configmaps/shop/total"."""
        return self.call("GET", "/history", object=object)["versions"]

    def leaks(self):
        return self.call("GET", "/leaks")["leaks"]

    def snapshot(self):
        return self.call("POST", "/snapshots")["id"]

    def restore(self, id):
        self.call("POST", f"/snapshots/{id}/restore")

    def remove_snapshot(self, id):
        self.call("DELETE", f"/snapshots/{id}")

    def reset(self):
        self.call("POST", "/reset")

    def compact(self):
        self.call("POST", "/compact")

    def fork(self):
        """An independent server with the same objects; ends with this one, or with remove_fork(id)."""
        line = self.call("POST", "/forks")
        server = Server(line)
        server.id = line["id"]
        return server

    def remove_fork(self, id):
        self.call("DELETE", f"/forks/{id}")

    def webhook(self, definition):
        return self.call("POST", "/webhooks", definition)

    def webhooks(self):
        return self.call("GET", "/webhooks")["webhooks"]

    def reviews(self, id):
        return self.call("GET", f"/webhooks/{id}/reviews")["reviews"]

    def remove_webhook(self, id):
        self.call("DELETE", f"/webhooks/{id}")


def _send(tls, method, url, token, body, content_type):
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {token}", "Content-Type": content_type, "Accept": "application/json"}
    request = urllib.request.Request(url, data, headers, method=method)
    # A proxy of the environment cannot reach this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=tls))
    try:
        with opener.open(request, timeout=timeout_seconds) as response:
            return response.status, _parse(response)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, _parse(error)


def _parse(response):
    """JSON, or the text of a response in another format."""
    text = response.read().decode()
    return json.loads(text) if response.headers.get_content_type() == "application/json" else text
