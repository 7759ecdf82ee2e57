"""Dynamic client of python3-kubernetes, which finds resources by discovery, and utilities based on it."""

import json
import threading
import unittest

from kubernetes import client, dynamic, utils
from kubernetes.dynamic.exceptions import ConflictError, NotFoundError, ResourceNotFoundError
from report import main

namespace = "default"


def config_map(name, data=None, **metadata):
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, **metadata}, "data": data or {}}


class DynamicClient(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.client = dynamic.DynamicClient(client.ApiClient())
        cls.maps = cls.client.resources.get(api_version="v1", kind="ConfigMap")

    def test_discovery(self):
        deployments = self.client.resources.get(kind="Deployment", api_version="apps/v1")
        self.assertEqual((deployments.name, deployments.namespaced, deployments.short_names), ("deployments", True, ["deploy"]))
        self.assertIn("scale", deployments.subresources)
        self.assertEqual(self.client.resources.get(api_version="autoscaling/v2", kind="HorizontalPodAutoscaler").group, "autoscaling")
        self.assertEqual(self.client.version["kubernetes"]["major"], "1")
        with self.assertRaises(ResourceNotFoundError):
            self.client.resources.get(kind="Gizmo")

    def test_crud(self):
        made = self.maps.create(body=config_map("dynamic", {"a": "1"}), namespace=namespace)
        self.assertEqual(made.data.a, "1")
        stale = made.to_dict()
        patched = self.maps.patch(
            body={"metadata": {"name": "dynamic"}, "data": {"b": "2"}}, namespace=namespace, content_type="application/merge-patch+json"
        )
        self.assertEqual(patched.to_dict()["data"], {"a": "1", "b": "2"})
        with self.assertRaises(ConflictError):
            self.maps.replace(body=stale, namespace=namespace)
        current = self.maps.get(name="dynamic", namespace=namespace).to_dict()
        current["data"] = {"c": "3"}
        self.assertEqual(self.maps.replace(body=current, namespace=namespace).to_dict()["data"], {"c": "3"})
        self.maps.delete(name="dynamic", namespace=namespace)
        with self.assertRaises(NotFoundError):
            self.maps.get(name="dynamic", namespace=namespace)

    def test_lists(self):
        for name in ("list-a", "list-b"):
            self.maps.create(body=config_map(name, labels={"dynamic": "list"}), namespace=namespace)
        listed = self.maps.get(namespace=namespace, label_selector="dynamic=list")
        self.assertEqual([item.metadata.name for item in listed.items], ["list-a", "list-b"])
        self.assertEqual(len(self.maps.get(namespace=namespace, label_selector="dynamic=list", limit=1).items), 1)

    def test_server_side_apply(self):
        def apply(data, **options):
            # This client sends other content types than JSON only as a string.
            body = json.dumps(config_map("applied", data))
            return self.maps.server_side_apply(body=body, name="applied", namespace=namespace, **options)

        apply({"a": "1"}, field_manager="alice")
        with self.assertRaises(ConflictError):
            apply({"a": "2"}, field_manager="bob")
        self.assertEqual(apply({"a": "2"}, field_manager="bob", force_conflicts=True).data.a, "2")

    def test_watch(self):
        begin = self.maps.get(namespace=namespace).metadata.resourceVersion

        def write():
            self.maps.create(body=config_map("seen", labels={"dynamic": "watch"}), namespace=namespace)
            self.maps.delete(name="seen", namespace=namespace)

        writer = threading.Thread(target=write)
        writer.start()
        seen = []
        for event in self.maps.watch(namespace=namespace, label_selector="dynamic=watch", resource_version=begin, timeout=10):
            seen.append((event["type"], event["object"].metadata.name))
            if len(seen) == 2:
                break
        writer.join()
        self.assertEqual(seen, [("ADDED", "seen"), ("DELETED", "seen")])

    def test_create_from_documents(self):
        documents = [config_map("document"), {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "document"}}]
        for document in documents:
            utils.create_from_dict(client.ApiClient(), document, namespace=namespace)
        self.assertEqual(client.CoreV1Api().read_namespaced_service_account("document", namespace).metadata.name, "document")

    def test_custom_objects_api_on_any_kind(self):
        listed = client.CustomObjectsApi().list_namespaced_custom_object("apps", "v1", namespace, "deployments")
        self.assertEqual(listed["kind"], "DeploymentList")


if __name__ == "__main__":
    main(DynamicClient)
