"""Karpenter itself, with its provider kwok, which makes Node objects for the fake kubelet to play (--adopt NODES)."""

import json
import os
import tempfile

import binaries
import manifests
import ports
import processes
from api import ApiError
from waiting import wait_until

# On the nodes of the provider kwok.
NODES = "kwok.x-k8s.io/node=fake"
ZONE = "zone-a"
CLASSES = "/apis/karpenter.kwok.sh/v1alpha1/kwoknodeclasses"


def instance_type(name, gpus, price, cpu="16", memory="64Gi"):
    requirements = [{"key": key, "operator": "In", "values": [value]} for key, value in (
        ("karpenter.sh/capacity-type", "on-demand"), ("topology.kubernetes.io/zone", ZONE))]
    resources = {"cpu": cpu, "memory": memory, "ephemeral-storage": "100Gi", "pods": "110"}
    return {"name": name, "architecture": "amd64", "operatingSystems": ["linux"],
            "offerings": [{"Price": price, "Available": True, "Requirements": requirements}],
            "resources": {**resources, **({"nvidia.com/gpu": str(gpus)} if gpus else {})}}


class Karpenter:
    """One process; a context manager. It leaves nothing behind but its kinds, which no server forgets at once."""

    def __init__(self, plane, types):
        self.api, self.plane = plane.admin, plane
        self.dir = tempfile.mkdtemp(prefix="karpenter-", dir=plane.dir)
        self.port, probes = ports.reserve(os.path.dirname(plane.dir), plane.dir, 2)
        self.probes = probes
        path = os.path.join(self.dir, "types.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(types, file)
        self.argv = [binaries.find(("karpenter",))["karpenter"], "--disable-leader-election=true",
                     "--metrics-port=%d" % self.port, "--health-probe-port=%d" % probes,
                     "--batch-idle-duration=1s", "--batch-max-duration=5s", "--log-level=debug",
                     "--instance-types-file-path=" + path]
        self.crds = [obj for name in sorted(os.listdir(binaries.data_dir("karpenter")))
                     for obj in manifests.load(os.path.join(binaries.data_dir("karpenter"), name))]
        self.record = None

    def __enter__(self):
        for crd in self.crds:
            self.api.apply(crd)
        for crd in self.crds:
            wait_until(lambda name=crd["metadata"]["name"]: self._served(name), 60, "the CRDs of Karpenter")
        env = dict(os.environ, KUBECONFIG=self.plane.kubeconfig("admin"), SYSTEM_NAMESPACE="default",
                   KUBERNETES_MIN_VERSION="1.19.0-0", DISABLE_WEBHOOK="true")
        self.record = processes.start(self.argv, os.path.join(self.dir, "karpenter.log"), env=env)
        self.plane.adopt("karpenter-%d" % self.port, self.record)
        self.api.request("POST", CLASSES, {
            "apiVersion": "karpenter.kwok.sh/v1alpha1", "kind": "KWOKNodeClass", "metadata": {"name": "default"}})
        return self

    def _served(self, name):
        status = self.api.request("GET", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/" + name)["status"]
        return any(c["type"] == "Established" and c["status"] == "True" for c in status.get("conditions") or [])

    def pool(self, name, labels, consolidate_after="5s", policy="WhenEmpty", grace=None):
        """A NodePool; its path, for changes."""
        # Told that spot would do, it asks for that when it consolidates; no type has any, and its provider kwok panics.
        spec = {"requirements": [{"key": key, "operator": "In", "values": [value]} for key, value in (
                    ("kubernetes.io/os", "linux"), ("karpenter.sh/capacity-type", "on-demand"))],
                "nodeClassRef": {"group": "karpenter.kwok.sh", "kind": "KWOKNodeClass", "name": "default"},
                "expireAfter": "Never", **({"terminationGracePeriod": grace} if grace else {})}
        self.api.request("POST", "/apis/karpenter.sh/v1/nodepools", {
            "apiVersion": "karpenter.sh/v1", "kind": "NodePool", "metadata": {"name": name},
            "spec": {"template": {"metadata": {"labels": labels}, "spec": spec},
                     "disruption": {"consolidationPolicy": policy, "consolidateAfter": consolidate_after,
                                    "budgets": [{"nodes": "100%"}]}}})
        return "/apis/karpenter.sh/v1/nodepools/" + name

    def relabel(self, name, labels):
        """Other labels of the pool's template: its nodes have drifted."""
        self.api.request("PATCH", "/apis/karpenter.sh/v1/nodepools/" + name,
                         {"spec": {"template": {"metadata": {"labels": labels}}}},
                         content_type="application/merge-patch+json")

    def is_drifted(self, claim):
        status = self.api.request("GET", "/apis/karpenter.sh/v1/nodeclaims/" + claim).get("status") or {}
        return any(c["type"] == "Drifted" and c["status"] == "True" for c in status.get("conditions") or [])

    def claims(self):
        return self.api.request("GET", "/apis/karpenter.sh/v1/nodeclaims")["items"] or []

    def nodes(self):
        return self.api.list("nodes", labelSelector=NODES)

    def end_nodes(self):
        """Whether none is left. It is told to take each away now; by itself it waits for half a minute."""
        for claim in self.claims():
            self._if_there("DELETE", "/apis/karpenter.sh/v1/nodeclaims/" + claim["metadata"]["name"])
        return not self.nodes() and not self.claims()

    def log(self):
        return processes.log_tail(os.path.join(self.dir, "karpenter.log"), 6000)

    def __exit__(self, *_):
        for pool in self.api.request("GET", "/apis/karpenter.sh/v1/nodepools")["items"] or []:
            self.api.request("DELETE", "/apis/karpenter.sh/v1/nodepools/" + pool["metadata"]["name"])
        processes.stop([self.record], 20)
        # Without it nobody takes its finalizers away.
        for claim in self.claims():
            self._drop("/apis/karpenter.sh/v1/nodeclaims/" + claim["metadata"]["name"])
        for node in self.nodes():
            self._drop("/api/v1/nodes/" + node["metadata"]["name"])
        for pool in self.api.request("GET", "/apis/karpenter.sh/v1/nodepools")["items"] or []:
            self._drop("/apis/karpenter.sh/v1/nodepools/" + pool["metadata"]["name"])
        self._drop(CLASSES + "/default")

    def _drop(self, path):
        self._if_there("PATCH", path, {"metadata": {"finalizers": None}}, content_type="application/merge-patch+json")
        self._if_there("DELETE", path)

    def _if_there(self, *request, **options):
        """What is not there any more needs nothing."""
        try:
            self.api.request(*request, **options)
        except ApiError as error:
            if error.status != 404:
                raise
