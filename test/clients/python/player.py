"""Performs steps that come as lines of JSON on standard input, with the client that learns kinds from discovery."""

import json
import sys
import threading

from kubernetes import client, config
from kubernetes.client.rest import ApiException
from kubernetes.dynamic import DynamicClient

config.load_kube_config(sys.argv[1])
dynamic = DynamicClient(client.ApiClient())
media_types = {"json": "application/json-patch+json", "merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json"}


def resource_of(ref):
    return dynamic.resources.get(api_version=ref["apiVersion"], kind=ref["kind"])


def perform(step, namespace):
    try:
        return perform_step(step, namespace)
    except ApiException as error:
        return {"refused": json.loads(error.body)["reason"]}


def perform_step(step, namespace):
    op = step["op"]
    ref = step.get("ref") or step["object"]
    resource = resource_of(ref)
    name = ref.get("name")
    if op == "create":
        options = {"query_params": [("dryRun", "All")]} if step.get("dryRun") else {}
        return {"object": resource.create(body=step["object"], namespace=namespace, **options).to_dict()}
    if op == "get":
        return {"object": resource.get(name=name, namespace=namespace).to_dict()}
    if op == "list":
        return {"names": names_of(resource, step, namespace)}
    if op in ("update", "staleUpdate"):
        read = resource.get(name=name, namespace=namespace).to_dict()
        if op == "staleUpdate":
            touch = {"metadata": {"labels": {"touched": "yes"}}}
            resource.patch(body=touch, name=name, namespace=namespace, content_type=media_types["merge"])
        return {"object": resource.replace(body={**read, **step["fields"]}, namespace=namespace).to_dict()}
    if op == "patch":
        patched = resource.patch(body=step["patch"], name=name, namespace=namespace, content_type=media_types[step["type"]])
        return {"object": patched.to_dict()}
    if op == "apply":
        options = {"field_manager": step["manager"], "force_conflicts": step["force"]}
        applied = resource.server_side_apply(body=json.dumps(step["object"]), name=step["object"]["metadata"]["name"], namespace=namespace, **options)
        return {"object": applied.to_dict()}
    if op == "delete":
        resource.delete(name=name, namespace=namespace)
        return {"done": True}
    if op == "deleteSelected":
        resource.delete(namespace=namespace, label_selector=step["selector"])
        return {"done": True}
    if op == "scale":
        resource.scale.patch(body={"spec": {"replicas": step["replicas"]}}, name=name, namespace=namespace, content_type=media_types["merge"])
        return {"done": True}
    if op == "updateStatus":
        read = resource.get(name=name, namespace=namespace).to_dict()
        return {"object": resource.status.replace(body={**read, "status": step["status"]}, name=name, namespace=namespace).to_dict()}
    if op == "as":
        headers = dynamic.client.default_headers
        headers["Impersonate-User"] = step["user"]
        try:
            return perform(step["step"], namespace)
        finally:
            del headers["Impersonate-User"]
    return watch(resource, step, namespace)


def names_of(resource, step, namespace):
    names = []
    options = {"label_selector": step["selector"], "field_selector": step.get("fieldSelector"), "limit": step.get("limit")}
    options = {name: value for name, value in options.items() if value is not None}
    while True:
        found = resource.get(namespace=namespace, **options)
        names += [item.metadata.name for item in found.items]
        following = found.metadata["continue"]
        if not following:
            return names
        options["_continue"] = following


def watch(resource, step, namespace):
    events = []
    version = resource.get(namespace=namespace).metadata.resourceVersion

    def follow():
        for event in resource.watch(namespace=namespace, label_selector=step["selector"], resource_version=version, timeout=30):
            events.append(f"{event['type']} {event['object'].metadata.name}")
            if len(events) == len(step["during"]):
                return

    following = threading.Thread(target=follow)
    following.start()
    for one in step["during"]:
        perform(one, namespace)
    following.join()
    return {"events": events}


for line in sys.stdin:
    asked = json.loads(line)
    print(json.dumps(perform(asked["step"], asked["namespace"])), flush=True)
