"""Tests with the Python client."""

import kubernetes
import pytest


@pytest.mark.parametrize("price", ["3", "4"])
def test_create_and_read(api_client, namespace, price):
    core = kubernetes.client.CoreV1Api(api_client)
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "prices"}, "data": {"apple": price}})
    assert core.read_namespaced_config_map("prices", namespace).data == {"apple": price}


def test_invalid_name_is_refused(api_client, namespace):
    core = kubernetes.client.CoreV1Api(api_client)
    with pytest.raises(kubernetes.client.ApiException) as refused:
        core.create_namespaced_config_map(namespace, {"metadata": {"name": "No Such Name"}})
    assert refused.value.status == 422
