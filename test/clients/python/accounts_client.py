"""Controllers with one ServiceAccount each, as in kube-controller-manager, and a node that requests the projected tokens of its pods."""

import threading
import unittest

from kubernetes import client, watch
from kubernetes.client.rest import ApiException
from report import main

namespace = "default"
labels = {"app": "loops"}
template = {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


def token_of(core, place, name, **spec):
    body = {"spec": {"expirationSeconds": 600, **spec}}
    return core.create_namespaced_service_account_token(name, place, body)


def client_with(token):
    """Returns a client with the token as its only credential."""
    configuration = client.Configuration.get_default_copy()
    configuration.api_key = {"authorization": f"Bearer {token}"}
    configuration.cert_file = configuration.key_file = None
    configuration.username = configuration.password = None
    return client.ApiClient(configuration)


def as_node(name):
    api = client.ApiClient()
    api.set_default_header("Impersonate-User", f"system:node:{name}")
    api.set_default_header("Impersonate-Group", "system:nodes")
    return client.CoreV1Api(api)


class Accounts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.core = client.CoreV1Api()

    def loop_client(self, loop):
        try:
            self.core.create_namespaced_service_account("kube-system", {"metadata": {"name": loop}})
        except ApiException as failed:
            self.assertEqual(failed.status, 409)
        return client_with(token_of(self.core, "kube-system", loop).status.token)

    def refused(self, code, act):
        with self.assertRaises(ApiException) as caught:
            act()
        self.assertEqual(caught.exception.status, code, caught.exception.body)

    def test_each_controller_has_its_own_permissions(self):
        replicas = self.loop_client("replicaset-controller")
        endpoints = self.loop_client("endpoint-controller")
        sets, pods = client.AppsV1Api(replicas), client.CoreV1Api(replicas)
        done = threading.Event()
        problems = []

        def keep_replicas():
            try:
                for event in watch.Watch().stream(sets.list_namespaced_replica_set, namespace, timeout_seconds=20):
                    wanted = event["object"]
                    if event["type"] != "ADDED" or wanted.metadata.name != "looped":
                        continue
                    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "looped", "uid": wanted.metadata.uid, "controller": True, "blockOwnerDeletion": True}
                    for number in range(wanted.spec.replicas):
                        pods.create_namespaced_pod(namespace, {"metadata": {"name": f"looped-{number}", "labels": labels, "ownerReferences": [owner]}, "spec": template["spec"]})
                    wanted.status.replicas = wanted.spec.replicas
                    sets.replace_namespaced_replica_set_status("looped", namespace, wanted)
                    return done.set()
            except Exception as problem:  # told by the test, which waits in another thread
                problems.append(problem)
                done.set()

        loop = threading.Thread(target=keep_replicas)
        loop.start()
        spec = {"replicas": 2, "selector": {"matchLabels": labels}, "template": template}
        client.AppsV1Api().create_namespaced_replica_set(namespace, {"metadata": {"name": "looped"}, "spec": spec})
        self.assertTrue(done.wait(20))
        loop.join()
        self.assertEqual(problems, [])
        self.assertEqual(client.AppsV1Api().read_namespaced_replica_set("looped", namespace).status.replicas, 2)
        mine = client.CoreV1Api(endpoints)
        found = mine.list_namespaced_pod(namespace, label_selector="app=loops").items
        self.assertEqual(sorted(pod.metadata.name for pod in found), ["looped-0", "looped-1"])
        mine.create_namespaced_endpoints(namespace, {"metadata": {"name": "looped"}, "subsets": [{"addresses": [{"ip": "10.1.2.3"}], "ports": [{"port": 80}]}]})
        # Each controller only has its own permissions.
        self.refused(403, lambda: mine.delete_namespaced_pod("looped-0", namespace))
        self.refused(403, lambda: pods.read_namespaced_endpoints("looped", namespace))

    def test_a_token_is_invalid_after_its_service_account_is_deleted(self):
        old = client.CoreV1Api(self.loop_client("node-controller"))
        self.assertGreaterEqual(len(old.list_node().items), 0)
        self.core.delete_namespaced_service_account("node-controller", "kube-system")
        self.refused(401, old.list_node)
        again = client.CoreV1Api(self.loop_client("node-controller"))
        self.assertGreaterEqual(len(again.list_node().items), 0)
        self.refused(401, old.list_node)

    def test_a_node_can_request_tokens_of_its_pods(self):
        self.core.create_node({"metadata": {"name": "n1"}})
        self.core.create_namespaced_service_account(namespace, {"metadata": {"name": "app"}})

        def pod_on(node):
            spec = {**template["spec"], "serviceAccountName": "app", "nodeName": node}
            return self.core.create_namespaced_pod(namespace, {"metadata": {"name": f"on-{node}"}, "spec": spec})

        here, there = pod_on("n1"), pod_on("n2")
        projected = next(source for volume in here.spec.volumes for source in volume.projected.sources if source.service_account_token)
        kubelet = as_node("n1")

        def bound(pod):
            reference = {"kind": "Pod", "apiVersion": "v1", "name": pod.metadata.name, "uid": pod.metadata.uid}
            return token_of(kubelet, namespace, "app", expirationSeconds=projected.service_account_token.expiration_seconds, boundObjectRef=reference)

        token = bound(here).status.token
        self.refused(403, lambda: bound(there))
        self.refused(403, lambda: token_of(kubelet, namespace, "app"))
        review = client.AuthenticationV1Api().create_token_review({"spec": {"token": token}}).status
        self.assertTrue(review.authenticated)
        self.assertEqual(review.user.username, f"system:serviceaccount:{namespace}:app")
        self.assertEqual(review.user.extra["authentication.kubernetes.io/pod-name"], ["on-n1"])
        self.core.delete_namespaced_pod("on-n1", namespace, grace_period_seconds=0)
        self.assertFalse(client.AuthenticationV1Api().create_token_review({"spec": {"token": token}}).status.authenticated)


if __name__ == "__main__":
    main(Accounts)
