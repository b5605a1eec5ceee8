"""Agents on fake nodes: played ones, which tell what the fake kubelet says, and real ones, by the product's DaemonSet."""

import copy
import json
import signal
import urllib.error
import urllib.request

import manifests
from invariants import P
from waiting import wait_until

HOME, NAME = "aliquot-system", "aliquot-agent"


def daemon_set(nodes):
    """A label, a port called state, and the nodes with GPUs."""
    labels = {P + "agent": "true"}
    hosts = {"key": "kubernetes.io/hostname", "operator": "In", "values": nodes}
    return {"apiVersion": "apps/v1", "kind": "DaemonSet",
            "metadata": {"name": NAME, "namespace": HOME},
            "spec": {"selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {
                    "automountServiceAccountToken": False, "terminationGracePeriodSeconds": 1,
                    "tolerations": [{"operator": "Exists"}],
                    "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [hosts]}]}}},
                    "containers": [{"name": "agent", "image": "agent", "ports": [
                        {"name": "state", "containerPort": 10251}]}]}}}}


def pods(stack):
    return stack.api.list("pods", stack.agent_namespace, labelSelector=P + "agent=true")


def start(stack, nodes):
    stack.api.create("daemonsets", daemon_set(list(nodes)))
    wait_until(lambda: sum(pod["status"].get("phase") == "Running" for pod in pods(stack)) == len(nodes), 60,
               "agents to run")


def stop(stack):
    stack.api.delete("daemonsets", NAME, stack.agent_namespace, propagationPolicy="Background")
    wait_until(lambda: not pods(stack), 60, "agents to leave")


# Real ones.

METRICS_PORT, STATE_PORT = 9400, 10251


KUBECONFIG = "agent-of-a-test"


def product(stack, nodes, arguments=(), component=None):
    """The DaemonSet of the manifests, with a component if one is named, but for what a machine without namespaces wants:
    addresses of the pod's own, /proc of the fake node, the address of the API server beside the token. A look a second, for
    tests have no patience."""
    objects = stack.rendered()
    if component:
        objects = manifests.with_component(objects, component)
    image = next(obj for obj in objects if obj["kind"] == "DaemonSet")
    found = copy.deepcopy(image)
    spec = found["spec"]["template"]["spec"]
    hosts = {"key": "kubernetes.io/hostname", "operator": "In", "values": list(nodes)}
    rule = spec["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    for term in rule["nodeSelectorTerms"]:
        term["matchExpressions"].append(hosts)
    for one in spec["containers"]:
        one["image"] = "aliquot:test"
    container = next(one for one in spec["containers"] if one["name"] == "agent")
    container["args"] += ["--listen=$(POD_IP):%d" % METRICS_PORT, "--state-listen=$(POD_IP):%d" % STATE_PORT,
                          "--proc-root=/host/proc", "--interval-seconds=1", "--log-level=debug", *arguments]
    container["env"] += [{"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
                         {"name": "KUBECONFIG", "value": _beside_the_token(stack, container, spec)}]
    container["volumeMounts"].append({"name": "proc", "mountPath": "/host/proc"})
    spec["volumes"].append({"name": "proc", "hostPath": {"path": "/proc"}})
    return found


def _beside_the_token(stack, container, spec):
    """A kubeconfig among the files of the token, which is that of the pod and names its node."""
    with open(stack.plane.kubeconfig("agent"), encoding="utf-8") as file:
        config = json.load(file)
    config["users"][0]["user"] = {"tokenFile": "token"}
    stack.api.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": KUBECONFIG, "namespace": stack.agent_namespace},
                     "data": {"kubeconfig": json.dumps(config)}})
    volume = next(one for one in spec["volumes"] if one["name"] == "token")
    volume["projected"]["sources"].append({"configMap": {"name": KUBECONFIG}})
    return next(mount["mountPath"] for mount in container["volumeMounts"] if mount["name"] == "token") + "/kubeconfig"


def start_product(stack, nodes, arguments=(), component=None):
    stack.api.create("daemonsets", product(stack, nodes, arguments, component))
    wait_until(lambda: len([node for node in nodes if ready(stack, node)]) == len(nodes), 60,
               lambda: "agents to be ready\n" + "\n".join(log(stack, node) for node in nodes))


def end_product(stack):
    """Each is told to end and does, well: a sanitizer's finding would be an exit status. Then they go."""
    try:
        _end_well(stack)
    finally:
        stop(stack)


def _end_well(stack):
    for pod in pods(stack):
        name = pod["metadata"]["name"]
        where = pod["spec"]["nodeName"]
        stack.kubelet.fault("kill", namespace=stack.agent_namespace, pod=name, container="agent", code=-int(signal.SIGTERM))

        def ended(name=name):
            found = next(one for one in stack.api.get("pods", name, stack.agent_namespace)["status"]["containerStatuses"]
                         if one["name"] == "agent")
            return {**found.get("state", {}), **found.get("lastState", {})}.get("terminated")
        code = wait_until(ended, 60, "the agent to end")["exitCode"]
        assert code in (0, 137), "%d\n%s" % (code, log(stack, where))


def pod_on(stack, node):
    """The agent's pod on a node; None where there is none."""
    return next((pod for pod in pods(stack) if pod["spec"].get("nodeName") == node and
                 not pod["metadata"].get("deletionTimestamp")), None)


def address(stack, node):
    """Where the agent of a node is, as the API server says."""
    return pod_on(stack, node)["status"]["podIP"]


def get(stack, node, path="/metrics", where=None):
    """(status, text) of a page of a node's agent, or of the one at the address WHERE."""
    url = "http://%s:%d%s" % (where or address(stack, node), METRICS_PORT, path)
    try:
        with urllib.request.urlopen(url, timeout=15) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def ready(stack, node):
    """Whether the agent there says that it sees all it needs."""
    try:
        return get(stack, node, "/readyz")[0] == 200
    except (OSError, KeyError, TypeError):
        return False


def samples(stack, node, where=None):
    """{(name, labels as a frozenset of pairs): value} of /metrics."""
    found = {}
    for line in get(stack, node, where=where)[1].splitlines():
        if line and not line.startswith("#"):
            series, value = line.rsplit(" ", 1)
            name, _, rest = series.partition("{")
            pairs = frozenset(tuple(pair.split("=", 1)) for pair in rest.rstrip("}").split(",") if "=" in pair)
            found[name, pairs] = float(value)
    return found


def figure(stack, node, metric, where=None, **labels):
    """The value of the one series with these labels; None where there is none."""
    wanted = {(key, '"%s"' % value) for key, value in labels.items()}
    found = [value for (name, pairs), value in samples(stack, node, where).items() if name == metric and wanted <= pairs]
    assert len(found) < 2, (metric, labels, found)
    return found[0] if found else None


def log(stack, node, size=6000):
    """The end of what the agent there wrote."""
    pod = pod_on(stack, node)
    if pod is None:
        return "no agent on " + node
    state = stack.kubelet.state()["pods"].get(pod["metadata"]["uid"]) or {}
    try:
        with open(state["folder"] + "/agent.log", encoding="utf-8", errors="replace") as file:
            return file.read()[-size:]
    except (OSError, KeyError) as error:
        return "no log on %s: %s" % (node, error)
