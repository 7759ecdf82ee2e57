"""Typed client of python3-kubernetes: create, read, replace, patch, list, watch and delete."""

import threading
import unittest

from kubernetes import client, watch
from kubernetes.client.rest import ApiException
from report import main

namespace = "default"
core = client.CoreV1Api
apps = client.AppsV1Api


def meta(name, **fields):
    return client.V1ObjectMeta(name=name, **fields)


def deployment(name, replicas=2):
    labels = {"app": name}
    container = client.V1Container(
        name="web",
        image="registry.example/web:1",
        ports=[client.V1ContainerPort(container_port=8080)],
        resources=client.V1ResourceRequirements(limits={"cpu": "500m", "memory": "64Mi"}),
        liveness_probe=client.V1Probe(http_get=client.V1HTTPGetAction(path="/", port="http")),
    )
    template = client.V1PodTemplateSpec(metadata=client.V1ObjectMeta(labels=labels), spec=client.V1PodSpec(containers=[container]))
    spec = client.V1DeploymentSpec(replicas=replicas, selector=client.V1LabelSelector(match_labels=labels), template=template)
    return client.V1Deployment(metadata=meta(name, labels=labels), spec=spec)


class TypedClient(unittest.TestCase):
    def failure(self, code, reason, act):
        with self.assertRaises(ApiException) as caught:
            act()
        self.assertEqual(caught.exception.status, code, caught.exception.body)
        self.assertIn('"reason":"%s"' % reason, caught.exception.body.replace('": "', '":"'))

    def test_version(self):
        self.assertTrue(client.VersionApi().get_code().git_version.startswith("v1.26."))

    def test_discovery(self):
        groups = [group.name for group in client.ApisApi().get_api_versions().groups]
        self.assertIn("apps", groups)
        self.assertIn("rbac.authorization.k8s.io", groups)
        resources = {resource.name: resource for resource in core().get_api_resources().resources}
        self.assertIn("deletecollection", resources["configmaps"].verbs)
        self.assertFalse(resources["nodes"].namespaced)
        self.assertEqual(apps().get_api_resources().group_version, "apps/v1")

    def test_config_map_crud(self):
        api = core()
        made = api.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("life"), data={"a": "1"}, binary_data={"b": "AAE="}))
        self.assertEqual((made.data, made.binary_data), ({"a": "1"}, {"b": "AAE="}))
        self.assertIsNotNone(made.metadata.creation_timestamp.tzinfo)
        self.failure(409, "AlreadyExists", lambda: api.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("life"))))
        read = api.read_namespaced_config_map("life", namespace)
        self.assertEqual(read.metadata.uid, made.metadata.uid)
        read.data["a"] = "2"
        replaced = api.replace_namespaced_config_map("life", namespace, read)
        self.assertNotEqual(replaced.metadata.resource_version, made.metadata.resource_version)
        self.failure(409, "Conflict", lambda: api.replace_namespaced_config_map("life", namespace, read))
        patched = api.patch_namespaced_config_map("life", namespace, {"data": {"a": None, "c": "3"}})
        self.assertEqual(patched.data, {"c": "3"})
        gone = api.delete_namespaced_config_map("life", namespace)
        self.assertEqual(gone.status, "Success")
        self.failure(404, "NotFound", lambda: api.read_namespaced_config_map("life", namespace))

    def test_deployment_with_scale_and_status(self):
        api = apps()
        made = api.create_namespaced_deployment(namespace, deployment("scaled"))
        self.assertEqual(made.spec.strategy.rolling_update.max_surge, "25%")
        self.assertEqual(made.spec.template.spec.containers[0].liveness_probe.period_seconds, 10)
        scale = api.read_namespaced_deployment_scale("scaled", namespace)
        self.assertEqual((scale.spec.replicas, scale.status.selector), (2, "app=scaled"))
        scale.spec.replicas = 5
        self.assertEqual(api.replace_namespaced_deployment_scale("scaled", namespace, scale).spec.replicas, 5)
        api.patch_namespaced_deployment_scale("scaled", namespace, {"spec": {"replicas": 6}})
        status = api.patch_namespaced_deployment_status("scaled", namespace, {"status": {"observedGeneration": 3, "replicas": 4}})
        self.assertEqual((status.spec.replicas, status.status.replicas, status.metadata.generation), (6, 4, 3))
        image = {"spec": {"template": {"spec": {"containers": [{"name": "web", "image": "registry.example/web:2"}]}}}}
        merged = api.patch_namespaced_deployment("scaled", namespace, image)
        container = merged.spec.template.spec.containers[0]
        self.assertEqual((container.image, container.ports[0].container_port), ("registry.example/web:2", 8080))
        api.delete_namespaced_deployment("scaled", namespace, body=client.V1DeleteOptions(propagation_policy="Background"))

    def test_json_patch(self):
        api = core()
        api.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("operations"), data={"a": "1"}))
        operations = [{"op": "add", "path": "/data/b", "value": "2"}, {"op": "remove", "path": "/data/a"}]
        self.assertEqual(api.patch_namespaced_config_map("operations", namespace, operations).data, {"b": "2"})
        self.failure(422, "Invalid", lambda: api.patch_namespaced_config_map("operations", namespace, operations))

    def test_kinds_of_many_groups(self):
        made = client.RbacAuthorizationV1Api().create_namespaced_role(
            namespace, client.V1Role(metadata=meta("reader"), rules=[client.V1PolicyRule(api_groups=[""], resources=["pods"], verbs=["get"])])
        )
        self.assertEqual(made.rules[0].resources, ["pods"])
        container = client.V1Container(name="c", image="x")
        pod = client.V1PodTemplateSpec(spec=client.V1PodSpec(containers=[container], restart_policy="Never"))
        job = client.BatchV1Api().create_namespaced_job(namespace, client.V1Job(metadata=meta("job"), spec=client.V1JobSpec(template=pod)))
        self.assertEqual((job.spec.backoff_limit, job.spec.completion_mode), (6, "NonIndexed"))
        cron = client.V1CronJob(metadata=meta("cron"), spec=client.V1CronJobSpec(schedule="@daily", job_template=client.V1JobTemplateSpec(spec=client.V1JobSpec(template=pod))))
        self.assertEqual(client.BatchV1Api().create_namespaced_cron_job(namespace, cron).spec.concurrency_policy, "Allow")
        backend = client.V1IngressBackend(service=client.V1IngressServiceBackend(name="web", port=client.V1ServiceBackendPort(number=80)))
        ingress = client.V1Ingress(metadata=meta("ingress"), spec=client.V1IngressSpec(default_backend=backend))
        self.assertEqual(client.NetworkingV1Api().create_namespaced_ingress(namespace, ingress).spec.default_backend.service.port.number, 80)
        lease = client.V1Lease(metadata=meta("lease"), spec=client.V1LeaseSpec(holder_identity="me", lease_duration_seconds=15))
        self.assertEqual(client.CoordinationV1Api().create_namespaced_lease(namespace, lease).spec.holder_identity, "me")
        budget = client.V1PodDisruptionBudget(metadata=meta("budget"), spec=client.V1PodDisruptionBudgetSpec(max_unavailable="10%", selector=client.V1LabelSelector(match_labels={"a": "b"})))
        self.assertEqual(client.PolicyV1Api().create_namespaced_pod_disruption_budget(namespace, budget).spec.max_unavailable, "10%")
        storage = client.V1StorageClass(metadata=meta("fast"), provisioner="disks.example")
        self.assertEqual(client.StorageV1Api().create_storage_class(storage).reclaim_policy, "Delete")
        priority = client.V1PriorityClass(metadata=meta("urgent"), value=7)
        self.assertEqual(client.SchedulingV1Api().create_priority_class(priority).preemption_policy, "PreemptLowerPriority")

    def test_secret_and_service(self):
        api = core()
        secret = api.create_namespaced_secret(namespace, client.V1Secret(metadata=meta("secret"), string_data={"word": "pass"}))
        self.assertEqual((secret.type, secret.data, secret.string_data), ("Opaque", {"word": "cGFzcw=="}, None))
        port = client.V1ServicePort(port=80, target_port="http")
        service = api.create_namespaced_service(namespace, client.V1Service(metadata=meta("web"), spec=client.V1ServiceSpec(ports=[port])))
        self.assertEqual((service.spec.type, service.spec.cluster_ip), ("ClusterIP", service.spec.cluster_i_ps[0]))
        self.assertEqual(service.spec.ports[0].protocol, "TCP")

    def test_lists_selectors_and_pages(self):
        api = core()
        for number in range(7):
            labels = {"list": "yes", "parity": "even" if number % 2 == 0 else "odd"}
            api.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("item-%d" % number, labels=labels)))
        even = api.list_namespaced_config_map(namespace, label_selector="list=yes,parity in (even)")
        self.assertEqual([item.metadata.name for item in even.items], ["item-0", "item-2", "item-4", "item-6"])
        names, token = [], None
        while True:
            page = api.list_namespaced_config_map(namespace, label_selector="list", limit=3, _continue=token)
            names += [item.metadata.name for item in page.items]
            token = page.metadata._continue
            if not token:
                break
        self.assertEqual(names, ["item-%d" % number for number in range(7)])
        one = api.list_config_map_for_all_namespaces(field_selector="metadata.name=item-3,metadata.namespace=default")
        self.assertEqual(len(one.items), 1)
        self.assertGreater(len(api.list_config_map_for_all_namespaces(resource_version="0").items), 6)
        self.failure(400, "BadRequest", lambda: api.list_namespaced_config_map(namespace, field_selector="data.a=1"))
        deleted = api.delete_collection_namespaced_config_map(namespace, label_selector="list=yes")
        self.assertIsNotNone(deleted)
        self.assertEqual(api.list_namespaced_config_map(namespace, label_selector="list").items, [])

    def test_watch_from_a_list(self):
        api = core()
        begin = api.list_namespaced_config_map(namespace).metadata.resource_version

        def write():
            api.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("watched", labels={"watched": "yes"})))
            api.patch_namespaced_config_map("watched", namespace, {"data": {"a": "1"}})
            api.delete_namespaced_config_map("watched", namespace)

        writer = threading.Thread(target=write)
        writer.start()
        seen = []
        stream = watch.Watch()
        for event in stream.stream(
            api.list_namespaced_config_map, namespace, label_selector="watched", resource_version=begin, timeout_seconds=10
        ):
            self.assertIsInstance(event["object"], client.V1ConfigMap)
            seen.append((event["type"], event["object"].data))
            if event["type"] == "DELETED":
                stream.stop()
        writer.join()
        self.assertEqual(seen, [("ADDED", None), ("MODIFIED", {"a": "1"}), ("DELETED", {"a": "1"})])

    def test_watch_timeout(self):
        seen = [event["type"] for event in watch.Watch().stream(core().list_namespace, timeout_seconds=1)]
        self.assertEqual(set(seen), {"ADDED"})

    def test_finalizers(self):
        api = core()
        api.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("held", finalizers=["test.example/hold"])))
        api.delete_namespaced_config_map("held", namespace)
        held = api.read_namespaced_config_map("held", namespace)
        self.assertIsNotNone(held.metadata.deletion_timestamp)
        api.patch_namespaced_config_map("held", namespace, {"metadata": {"finalizers": None}})
        self.failure(404, "NotFound", lambda: api.read_namespaced_config_map("held", namespace))

    def test_dry_run_and_field_manager(self):
        api = core()
        made = api.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("dry")), dry_run="All", field_manager="tester")
        self.assertEqual(made.metadata.managed_fields, None)
        filled = api.create_namespaced_config_map(namespace, client.V1ConfigMap(metadata=meta("dry"), data={"a": "1"}), dry_run="All", field_manager="tester")
        self.assertEqual(filled.metadata.managed_fields[0].manager, "tester")
        self.failure(404, "NotFound", lambda: api.read_namespaced_config_map("dry", namespace))

    def test_errors_have_reasons(self):
        wrong = client.V1ConfigMap(metadata=meta("Not_A_Name"))
        self.failure(422, "Invalid", lambda: core().create_namespaced_config_map(namespace, wrong))
        lost = client.V1ConfigMap(metadata=meta("lost"))
        self.failure(404, "NotFound", lambda: core().create_namespaced_config_map("nowhere", lost))

    def test_lists_of_every_kind(self):
        listed, failed = [], []
        for name in dir(client):
            if not name.endswith("Api") or name == "CustomObjectsApi":
                continue
            api = getattr(client, name)()
            for method in [method for method in dir(api) if method.startswith("list_") and not method.endswith("_with_http_info")]:
                try:
                    getattr(api, method)(*([namespace] if "_namespaced_" in method else []))
                    listed.append(method)
                except ApiException as failure:
                    # This client is older than the server and knows removed versions.
                    if failure.status != 404 or "V1Api" in name:
                        failed.append("%s.%s: %s" % (name, method, failure))
                except ValueError as failure:
                    # This client rejects events without event_time, which controllers write, those of kube-apiserver too.
                    if name == "EventsV1Api" and "`event_time`, must not be `None`" in str(failure):
                        continue
                    failed.append("%s.%s: %s" % (name, method, failure))
        self.assertEqual(failed, [])
        self.assertGreater(len(listed), 60)

    def test_reviews(self):
        attributes = client.V1ResourceAttributes(verb="create", resource="pods", namespace=namespace)
        review = client.V1SelfSubjectAccessReview(spec=client.V1SelfSubjectAccessReviewSpec(resource_attributes=attributes))
        self.assertTrue(client.AuthorizationV1Api().create_self_subject_access_review(review).status.allowed)


if __name__ == "__main__":
    main(TypedClient)
