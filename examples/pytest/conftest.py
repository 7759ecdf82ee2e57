"""Fixtures: a server as a child process for the session, and a namespace for each test."""

import os
import subprocess
import tempfile
import uuid

import kubernetes
import pytest


@pytest.fixture(scope="session")
def api_client():
    """Client of the administrator. The server stops when the session ends."""
    with tempfile.TemporaryDirectory() as folder:
        command = os.environ.get("CLUSTER_APISERVER", "cluster-apiserver")
        flags = ["--identity=kubernetes", "--bind-address=127.0.0.1", "--secure-port=0", f"--data-dir={folder}/data"]
        server = subprocess.Popen([command, *flags], stdout=subprocess.PIPE, text=True)
        try:
            # The last line on standard output begins with "ready".
            for line in server.stdout:
                if line.startswith("ready"):
                    break
            else:
                raise RuntimeError("the server did not start")
            yield kubernetes.config.new_client_from_config(f"{folder}/data/admin.conf")
        finally:
            server.terminate()
            server.wait()


@pytest.fixture
def namespace(api_client):
    name = f"test-{uuid.uuid4().hex[:8]}"
    kubernetes.client.CoreV1Api(api_client).create_namespace({"metadata": {"name": name}})
    return name
