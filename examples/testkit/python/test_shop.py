"""A shop that retries: run it with `python3 -m unittest`, and testkit.py next to it."""

import unittest

import testkit

config_maps = "/api/v1/namespaces/default/configmaps"


def create_with_retry(server, name, attempts=3):
    for _ in range(attempts):
        status, _ = server.api("POST", config_maps, {"metadata": {"name": name}})
        if status != 503:
            return status
    return 503


class ShopTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = testkit.start("--event-ttl=1h")
        cls.addClassCleanup(cls.server.close)

    def setUp(self):
        self.kit = self.server.testkit
        self.kit.clear_faults()
        self.kit.reset()

    def test_retries_while_the_server_is_unavailable(self):
        self.kit.fault({"verb": "create", "resource": "configmaps", "times": 2, "error": {"code": 503}})
        self.assertEqual(create_with_retry(self.server, "total"), 201)
        self.kit.check_faults()

    def test_events_expire(self):
        event = {"metadata": {"name": "opened"}, "involvedObject": {"namespace": "default"}}
        self.assertEqual(self.server.api("POST", "/api/v1/namespaces/default/events", event)[0], 201)
        self.kit.advance("2h")
        self.assertEqual(self.server.api("GET", "/api/v1/namespaces/default/events/opened")[0], 404)

    def test_history(self):
        create_with_retry(self.server, "total")
        self.server.api("DELETE", f"{config_maps}/total")
        versions = self.kit.history("configmaps/default/total")
        self.assertEqual([version["verb"] for version in versions], ["create", "delete"])

    def test_errors_of_the_test_kit(self):
        with self.assertRaises(testkit.TestkitError) as raised:
            self.kit.advance("soon")
        self.assertEqual(raised.exception.status, 400)


if __name__ == "__main__":
    unittest.main()
