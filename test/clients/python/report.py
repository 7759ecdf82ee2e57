"""Runs test cases and prints one line of JSON for each, which python.test.ts reports as tests."""

import json
import sys
import time
import unittest

from kubernetes import config


class LineResult(unittest.TestResult):
    """Prints the result of each case when it ends."""

    def startTest(self, test):
        super().startTest(test)
        self.began = time.monotonic()

    def addSuccess(self, test):
        self.say(test, None)

    def addError(self, test, err):
        super().addError(test, err)
        self.say(test, self.errors[-1][1])

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.say(test, self.failures[-1][1])

    def say(self, test, failure):
        name = test._testMethodName.removeprefix("test_").replace("_", " ")
        print(json.dumps({"name": name, "failure": failure, "ms": round((time.monotonic() - self.began) * 1000)}), flush=True)


def main(*cases):
    """Expects the kubeconfig as first argument."""
    config.load_kube_config(sys.argv[1])
    loader = unittest.TestLoader()
    result = LineResult()
    unittest.TestSuite(loader.loadTestsFromTestCase(case) for case in cases).run(result)
