"""Workloads of other kinds than Deployments on whole GPUs, under a policy that replaces what runs (test_rolling)."""

import contextlib

import asking
import exporting
from api import ApiError
from helpers import is_whole, note, on
from test_rolling import POLICY, Rolling


def stack_of(port, *nodes):
    """STACK of a module whose exporter answers at this port; the first node has it, and most workloads."""
    return {"nodes": list(nodes),
            "arguments": ["--idle-grace-seconds=1", "--usage-seconds=5", "--rightsizing-seconds=1",
                          "--usage-exporter=default/app=dcgm:%d" % port]}


class Rolled(Rolling):
    """What several modules do with workloads of one namespace."""

    where = None

    def template(self, name, **spec):
        """(what its pods are chosen by, the template of its pods)"""
        pod = dict(self.stack.pod("x", **on(self.where))["spec"], terminationGracePeriodSeconds=0)
        pod.update(spec)
        return {"app": name}, {"metadata": {"labels": {"app": name, "rolled": "true"}}, "spec": pod}

    def create(self, resource, api_version, kind, name, spec, **meta):
        self.made[name] = {"apiVersion": api_version, "kind": kind, "spec": spec,
                           "metadata": dict(meta, name=name, namespace=self.space)}
        return self.api.create(resource, self.made[name])

    def wait_whole(self, name, count):
        self.wait(lambda: len(self.running(name)) == count, "the pods of %s to run" % name)
        assert all(is_whole(pod) for pod in self.running(name))

    def make(self, name, replicas, kind="Deployment", **template):
        chosen, pod = self.template(name, **template)
        self.create(kind.lower() + "s", "apps/v1", kind, name,
                    {"replicas": replicas, "selector": {"matchLabels": chosen}, "template": pod})

    def deploy(self, name, replicas, kind="Deployment", **template):
        self.make(name, replicas, kind, **template)
        self.wait_whole(name, replicas)

    def shares(self, name):
        return {(note(p, "share"), note(p, "memory")) for p in self.running(name)}

    def policy(self, **spec):
        return self.api.patch("gpupolicies", self.space, {"spec": spec})

    def blocked(self, name, kind="deployment"):
        return self.condition(name, "UpdateBlocked", kind)

    def wait_blocked(self, name, reason, kind="deployment"):
        """The message, once it is blocked for this reason."""
        told = []

        def blocked():
            told[:] = self.blocked(name, kind)
            return told[0] == reason
        self.wait_later(blocked, "%s to be told of %s" % (reason, name))
        return told[1]


@contextlib.contextmanager
def rolled_on(stack, name, where, *others, **update):
    """A namespace with its policy, and exporters on these nodes that tell the use of its pods."""
    with asking.namespace(stack) as space, contextlib.ExitStack() as exporters:
        stack.api.create("gpupolicies", {
            "apiVersion": "aliquot.dev/v1alpha1", "kind": "GPUPolicy", "metadata": {"name": space},
            "spec": dict(POLICY, update=dict(POLICY["update"], **update), selector={"namespaceSelector": {
                "matchLabels": {"kubernetes.io/metadata.name": space}}})})
        rolled = Rolled(stack, space)
        rolled.where = where
        port = int(stack.arguments[-1].rpartition(":")[2])
        for one in (*others, where):
            rolled.exporter = exporters.enter_context(exporting.exporter_on(stack, one, name(), port, rolled.told))
        try:
            yield rolled
        finally:
            with contextlib.suppress(ApiError):
                stack.api.delete("gpupolicies", space)
