"""Plays the scenario with examples/testkit/python/testkit.py: prints the result of each step as a line of JSON."""

import http.client
import json
import sys
import urllib.error

sys.path.insert(0, sys.argv[1])
import testkit  # noqa: E402

with open(sys.argv[2], encoding="utf-8") as file:
    scenario = json.load(file)


def play(server, step):
    kit = server.testkit
    actions = {
        "fault": lambda: kit.fault(step["rule"]),
        "faults": kit.faults,
        "checkFaults": kit.check_faults,
        "clearFaults": kit.clear_faults,
        "advance": lambda: kit.advance(step["by"]),
        "setClock": lambda: kit.set_clock(step["to"]),
        "idle": kit.idle,
        "history": lambda: kit.history(step["object"]),
        "requests": lambda: kit.requests(**step["filter"]),
        "clearRequests": kit.clear_requests,
    }
    try:
        if step["do"] == "api":
            return server.api(step["method"], step["path"], step.get("body"))
        return "ok", actions[step["do"]]()
    except testkit.TestkitError:
        return "error", None
    except (urllib.error.URLError, http.client.HTTPException, ConnectionError):
        return 0, None


def pick(value, path):
    for key in path:
        try:
            value = value[key]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def shorten(value, step):
    return value[: step["chars"]] if "chars" in step and isinstance(value, str) else value


with testkit.start(*scenario["flags"]) as server:
    for step in scenario["steps"]:
        status, value = play(server, step)
        print(json.dumps([status, *(shorten(pick(value, path), step) for path in step.get("pick", []))]))
