"""Runs scenario steps from stdin, one line of JSON each, with the dynamic client of python3-kubernetes."""

import json
import sys
import threading

from kubernetes import client, config, watch as watching
from kubernetes.client.rest import ApiException
from kubernetes.dynamic import DynamicClient

opened = {}
bookmark_seconds = 3
table_accept = "application/json;as=Table;g=meta.k8s.io;v=v1"
media_types = {"json": "application/json-patch+json", "merge": "application/merge-patch+json", "strategic": "application/strategic-merge-patch+json"}


def use(configuration):
    """Switches to the client of this kubeconfig."""
    global api_client, core, known
    if configuration not in opened:
        made = config.new_client_from_config(configuration)
        opened[configuration] = (made, client.CoreV1Api(made), [])
    api_client, core, known = opened[configuration]


def dynamic_client():
    # The constructor sends requests, which the server may reject.
    if not known:
        known.append(DynamicClient(api_client))
    return known[0]


def resource_of(ref):
    return dynamic_client().resources.get(api_version=ref["apiVersion"], kind=ref["kind"])


def perform(step, namespace):
    try:
        return perform_step(step, namespace)
    except ApiException as error:
        # The watch of this client reports the status code only.
        return {"refused": "Expired" if error.status == 410 else json.loads(error.body)["reason"]}


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
        headers = api_client.default_headers
        headers["Impersonate-User"] = step["user"]
        try:
            return perform(step["step"], namespace)
        finally:
            del headers["Impersonate-User"]
    if op == "resume":
        return resume(step, namespace)
    if op == "watchFrom":
        for _ in follow(namespace, resource_version=step["resourceVersion"], timeout_seconds=bookmark_seconds):
            break
        return {"done": True}
    if op == "table":
        return table(ref, step, namespace)
    return watch(resource, step, namespace)


def table(ref, step, namespace):
    prefix = "/api" if ref["apiVersion"] == "v1" else "/apis"
    path = f"{prefix}/{ref['apiVersion']}/namespaces/{namespace}/{ref['kind'].lower()}s"
    answer = api_client.call_api(
        path, "GET", query_params=[("labelSelector", step["selector"])], header_params={"Accept": table_accept},
        auth_settings=["BearerToken"], response_type="object", _return_http_data_only=True)
    columns = [column["name"].upper() for column in answer["columnDefinitions"]]
    rows = [["age" if name == "AGE" else str(cell) for name, cell in zip(columns, row["cells"])] for row in answer["rows"]]
    return {"table": [columns, *rows]}


def follow(namespace, **options):
    return watching.Watch().stream(core.list_namespaced_config_map, namespace=namespace, **options)


def resume(step, namespace):
    events = []
    version = core.list_namespaced_config_map(namespace).metadata.resource_version
    options = {"label_selector": step["selector"]}
    for one in step["before"]:
        perform(one, namespace)
    for event in follow(namespace, resource_version=version, allow_watch_bookmarks=True, timeout_seconds=bookmark_seconds, **options):
        metadata = event["raw_object"]["metadata"]
        events.append(f"{event['type']} {metadata.get('name', '')}")
        version = metadata["resourceVersion"]
        if event["type"] == "BOOKMARK":
            break
    for one in step["later"]:
        perform(one, namespace)
    wanted = len(events) + len(step["later"])
    for event in follow(namespace, resource_version=version, timeout_seconds=30, **options):
        events.append(f"{event['type']} {event['raw_object']['metadata']['name']}")
        if len(events) == wanted:
            break
    return {"events": events}


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
    use(asked["configuration"])
    print(json.dumps(perform(asked["step"], asked["namespace"])), flush=True)
