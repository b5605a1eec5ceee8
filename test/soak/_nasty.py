"""What somebody may write who means ill: objects that the API server takes, or nearly, and that are as large, as many-parted and
as odd as it lets them be. Made from a random.Random alone, so that a seed is a row of objects."""

import json

P = "aliquot.dev/"
GPU = "nvidia.com/gpu"
# The largest are rare, since the API server takes tens of seconds for some of them.
MANY = (1, 1, 1, 7, 7, 60, 60, 60, 700, 700, 700, 5000, 5000, 20000)
LENGTHS = (1, 63, 253, 1000, 4050, 4096, 60000)
TEXTS = ("x", "é", "𝕏", "\u202e", "\ufffd", "\"}],{", "../", "%2e%2e/", "\n", "😀", "ｘ", "'; --", "\u0000", "\ud7ff")
QUANTITIES = ("0", "1", "9223372036854775807", "9223372036854775807Ei", "1e18", "0.000000001", "1n", "-1", "+1", "1E", "00001",
              "999999999999999999999", "1.5", "16", "17", "100m")
FRACTIONS = ("0.0000001", "NaN", "1e308", "０.５", "-0", "0x1p3", " 0.5", "0.5 ", "1", "1.0000001", "", "0,5", "inf", ".5", "5.")
GUARDED = ("gpu-uuid", "visible-devices", "compute-milli", "memory-mib", "capacity-pod", "term", "grants", "original", "container",
           "share", "memory", "policy", "policy-applied", "injection", "gpu-count")
IDENTITY = '{"v":1,"uuid":"%s","memory":%s,"model":"M","minor":0,"driver":"570"}'


def text(rng, most=60000):
    return rng.choice(TEXTS) * min(most, rng.choice(LENGTHS))


def label(rng, n):
    return ("%d." % n + rng.choice("abcxyz") * 60)[:rng.choice((2, 20, 60))].rstrip(".") or "a"


def many(rng, make, room=1_000_000, each=100):
    """So many things that they fit in ROOM bytes, if EACH takes about so many."""
    return [make(i) for i in range(min(rng.choice(MANY), room // each))]


def labels(rng):
    return dict(many(rng, lambda i: ("l%d.example.com/%s" % (i, "k" * 40), "v" * 60), rng.choice((10_000, 100_000, 1_000_000)), 130))


def annotations(rng):
    return dict(many(rng, lambda i: ("a%d" % i, text(rng, 200)), room=200_000, each=900))


def tolerations(rng):
    return many(rng, lambda i: {"key": "t%d" % i, "operator": "Exists"}, each=60)


def terms(rng):
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": many(
        rng, lambda i: {"matchExpressions": [{"key": "k%d" % i, "operator": rng.choice(("In", "NotIn")), "values": ["v" * 60]}]},
        each=160)}}}


def neighbours(rng):
    return {rng.choice(("podAffinity", "podAntiAffinity")): {"requiredDuringSchedulingIgnoredDuringExecution": many(
        rng, lambda i: {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"l%d" % i: "v" * 60}}},
        each=170)}}


def container(rng, name="main"):
    amount = rng.choice(QUANTITIES) if rng.random() < 0.1 else "1"
    made = {"name": name, "image": rng.choice(("app", "x" * 200, "a/b@sha256:" + "0" * 64)),
            "resources": {"limits": {GPU: amount}} if rng.random() < 0.7 else {}}
    odd = rng.random()
    if odd < 0.2:
        made["env"] = many(rng, lambda i: {"name": "E%d" % i, "value": text(rng, 63)}, each=120)
    elif odd < 0.3:
        made["args"] = [text(rng) for _ in range(rng.choice((1, 5, 12)))]
    elif odd < 0.35:
        made["ports"] = many(rng, lambda i: {"containerPort": 1 + i % 60000, "hostPort": 1 + i % 60000}, each=90)
    elif odd < 0.4:
        made["resources"].setdefault("limits", {})["memory"] = rng.choice(QUANTITIES)
    return made


def spec(rng):
    made = {"containers": [container(rng)], "terminationGracePeriodSeconds": rng.choice((0, 1, 1, 30))}
    if rng.random() < 0.4:
        made["schedulingGates"] = [{"name": P + "gpu"}] + many(rng, lambda i: {"name": "g%d.example.com/x" % i}, each=40)[1:]
    odd = rng.choice(("claim", "tolerations", "terms", "neighbours", "containers", "volumes", "spread", "selector", "class", "aliases",
                      "overhead", "none", "none"))
    if odd == "claim":
        name = "c" * rng.choice((1, 63, 253, 4050, 4090, 60000))
        made["volumes"] = [{"name": "d", "persistentVolumeClaim": {"claimName": name}}]
    elif odd == "tolerations":
        made["tolerations"] = tolerations(rng)
    elif odd == "terms":
        made["affinity"] = terms(rng)
    elif odd == "neighbours":
        made["affinity"] = neighbours(rng)
    elif odd == "containers":
        made["containers"] += many(rng, lambda i: {"name": "c%d" % i, "image": "app"}, each=400)
    elif odd == "volumes":
        made["volumes"] = many(rng, lambda i: {"name": "v%d" % i, "persistentVolumeClaim": {"claimName": "c%d" % i}}, each=120)
    elif odd == "spread":
        made["topologySpreadConstraints"] = [{"maxSkew": 1, "topologyKey": "z%d" % i, "whenUnsatisfiable": "DoNotSchedule"}
                                             for i in range(rng.choice((1, 50, 2000)))]
    elif odd == "selector":
        made["nodeSelector"] = dict(many(rng, lambda i: ("s%d" % i, "v"), each=30))
    elif odd == "class":
        made["schedulerName"] = rng.choice(("other", "s" * 253))
    elif odd == "aliases":
        made["hostAliases"] = many(rng, lambda i: {"ip": "10.0.0.1", "hostnames": ["h%d" % i]}, each=60)
    return made


def owner(rng):
    kind = rng.choice((("batch/v1", "Job"), ("apps/v1", "ReplicaSet"), ("example.com/v1", "K" * rng.choice((1, 250, 4000))),
                       ("g" * 253 + "/v1", "Made"), ("v1", "Pod")))
    name = "n" * rng.choice((1, 253, 4050, 4095, 60000))
    return {"apiVersion": kind[0], "kind": kind[1], "name": name, "uid": text(rng, 4096) if rng.random() < 0.2 else "u-1",
            "controller": rng.random() < 0.8}


def pod(rng, namespace, name, stolen):
    """One that may just be stored. STOLEN: the labels and annotations of somebody who was placed."""
    made = _pod(rng, namespace, name, stolen)
    while len(json.dumps(made)) > 1_300_000:
        made = _pod(rng, namespace, name, stolen)
    return made


def _pod(rng, namespace, name, stolen):
    meta = {"name": name, "namespace": namespace, "labels": {"app": "nasty"}, "annotations": {}}
    if rng.random() < 0.3:
        meta["labels"] = labels(rng)
    if rng.random() < 0.3:
        meta["annotations"] = annotations(rng)
    if rng.random() < 0.5:
        meta["annotations"][P + "gpu-fraction"] = rng.choice(FRACTIONS)
    if rng.random() < 0.2:
        meta["annotations"][P + "gpu-memory"] = rng.choice(QUANTITIES)
    if rng.random() < 0.15:
        meta["annotations"][P + rng.choice(GUARDED)] = text(rng, 1000)
    if rng.random() < 0.15:
        meta["annotations"].update(stolen.get("annotations", {}))
        meta["labels"].update(stolen.get("labels", {}))
    if rng.random() < 0.05:
        meta["labels"][P + rng.choice(("tenant", "capacity", "agent"))] = "true"
    if rng.random() < 0.2:
        meta["ownerReferences"] = [owner(rng)]
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec(rng)}


def status(rng):
    """A kubelet's word, forged."""
    word = rng.choice((IDENTITY % ("GPU-" + "0" * rng.choice((8, 36, 400)), rng.choice(QUANTITIES)), text(rng, 4000),
                       "CUDA out of memory. Tried to allocate 20.00 GiB", '{"v":1}', "[" * 4000))
    ended = {"name": "main", "image": "app", "imageID": "", "ready": False, "restartCount": rng.choice((0, 1, 2147483647)),
             "state": {"terminated": {"exitCode": rng.choice((0, 1, 137, -1)), "reason": "OOMKilled", "message": word}}}
    conditions = many(rng, lambda i: {"type": "c%d.example.com/x" % i, "status": "True"}, each=60)
    return {"status": {"phase": rng.choice(("Pending", "Running", "Failed", "Succeeded")), "containerStatuses": [ended],
                       "conditions": conditions, "podIP": rng.choice(("127.0.0.1", "10.0.0.1", "::1")), "message": text(rng, 4000)}}


def other(rng, namespace, name):
    """(resource, object) of what else stands beside pods."""
    meta = {"name": name, "namespace": namespace}
    core = {"apiVersion": "v1", "metadata": meta}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container(rng)], "restartPolicy": "Never"}}
    made = {
        "persistentvolumeclaims": {**core, "kind": "PersistentVolumeClaim", "spec": {
            "accessModes": ["ReadWriteOnce"], "volumeName": "v" * rng.choice((1, 253, 4050)),
            "storageClassName": "s" * rng.choice((1, 253)), "resources": {"requests": {"storage": "1Gi"}}}},
        "jobs": {"apiVersion": "batch/v1", "kind": "Job", "metadata": meta, "spec": {
            "template": template, "parallelism": rng.choice((0, 1, 3)), "backoffLimit": rng.choice((0, 2147483647))}},
        "poddisruptionbudgets": {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": meta, "spec": {
            "maxUnavailable": rng.choice((0, "0%", 2147483647)), "selector": {"matchExpressions": many(
                rng, lambda i: {"key": "k%d" % i, "operator": "Exists"}, each=60)}}},
        "limitranges": {**core, "kind": "LimitRange", "spec": {"limits": [
            {"type": "Container", "default": {"cpu": rng.choice(("1", "1e9", "1n"))}}]}},
        "resourcequotas": {**core, "kind": "ResourceQuota", "spec": {"hard": {
            "requests." + GPU: rng.choice(("2", "9223372036854775807", "1e15")), "count/configmaps": "100"}}},
    }
    resource = rng.choice(sorted(made))
    return resource, made[resource]


# What whoever runs the cluster may get wrong: everything is about namespaces that are marked hostile.

def policy(rng, name):
    return "gpupolicies", {"apiVersion": P + "v1alpha1", "kind": "GPUPolicy", "metadata": {"name": name, "labels": labels(rng)}, "spec": {
        "priority": rng.choice((0, 1, 999, 2147483647)), "mode": rng.choice(("Automate", "Recommend", "Disabled")),
        "selector": {"namespaceSelector": {"matchLabels": {"hostile": "true"}}, "podSelector": {"matchExpressions": [
            {"key": "k%d" % i, "operator": "DoesNotExist"} for i in range(rng.choice((0, 1, 16)))]}},
        "compute": {"minPercent": rng.choice((1, 50)), "maxPercent": rng.choice((50, 100))},
        "sharing": {"maxTenants": rng.choice((1, 2, 16))}}}


def group(rng, name):
    expression = rng.choice(("(a+)+$", "(.*)*", "(x{1,50}){1,4}", "([a-z])" * 50, "(a|" + "b|" * 100 + "c)", "(" * 60 + "a" + ")" * 60, "(.*)"))
    return "gpuworkloadgroups", {"apiVersion": P + "v1alpha1", "kind": "GPUWorkloadGroup", "metadata": {"name": name}, "spec": {
        "rules": [{"topOwner": {"group": "example.com", "kind": "Made%d" % i, "nameRegex": expression}}
                  for i in range(rng.choice((1, 16)))],
        **rng.choice(({"keyFrom": "RegexCapture"}, {"keyFrom": "OwnerName", "ownerSuffixRegex": expression}))}}


def node(rng, name):
    """One that nobody serves, and where nobody may go."""
    return "nodes", {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": {
        **labels(rng), "nvidia.com/gpu.memory": rng.choice(("1", "x", "99999999")), "nvidia.com/gpu.count": "9" * 60}}, "spec": {
            "taints": [{"key": "nobody", "effect": "NoSchedule"}] + many(
                rng, lambda i: {"key": "t%d" % i, "effect": "NoExecute"}, each=60)}}
