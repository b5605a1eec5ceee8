"""What manifests/ says, without a server."""

import os
import re
import shutil
import subprocess

import pytest
import yaml

import fields
import manifests

NAMES_H = os.path.join(manifests.TREE, "include", "model", "names.h")
GUARDED = {"gpu-uuid", "visible-devices", "compute-milli", "memory-mib", "mps-threads",
           "mps-memory", "framework-memory", "capacity-pod", "term"}
HELD = GUARDED | {"original", "container", "share", "memory", "isolation", "framework"}


def one(kind, name):
    return next(obj for obj in manifests.render()
                if obj["kind"] == kind and obj["metadata"]["name"] == name)


def our_keys(text):
    return set(re.findall(r"'aliquot\.dev/([a-z-]+)'", text))


def test_every_namespaced_object_names_one_of_our_namespaces():
    ours = {obj["metadata"]["name"] for obj in manifests.render() if obj["kind"] == "Namespace"}
    assert ours == {"aliquot-system", "aliquot-canary"}
    used = {obj["metadata"].get("namespace") for obj in manifests.render()} - {None}
    assert used == ours


def test_kubectl_renders_the_same():
    kubectl = shutil.which("kubectl")
    if not kubectl:
        pytest.skip("kubectl is not installed")
    text = subprocess.run([kubectl, "kustomize", manifests.MANIFESTS], check=True, timeout=60,
                          capture_output=True).stdout
    theirs = {manifests.key_of(obj): obj for obj in yaml.safe_load_all(text)}
    assert theirs == {manifests.key_of(obj): obj for obj in manifests.render()}


def test_namespaces_and_kinds_come_first():
    kinds = [obj["kind"] for obj in manifests.render()]
    assert kinds[:6] == ["Namespace"] * 2 + ["CustomResourceDefinition"] * 4
    assert not set(kinds[6:]) & set(manifests.FIRST)


def test_the_image_is_set_everywhere():
    image = "registry.example/aliquot@sha256:" + "0" * 64
    deployment = next(obj for obj in manifests.render(image=image) if obj["kind"] == "Deployment")
    daemons = next(obj for obj in manifests.render(image=image) if obj["kind"] == "DaemonSet")
    for workload in (deployment, daemons):
        containers = workload["spec"]["template"]["spec"]["containers"]
        assert {container["image"] for container in containers} == {image}
    assert one("Deployment", "aliquot-controller")["spec"]["template"]["spec"]["containers"][0][
        "image"] == "aliquot:dev"


@pytest.mark.parametrize("text, said", [
    ("namePrefix: x-\n", "not namePrefix"),
    ("images:\n- {name: aliquot, digest: x}\n", "images: only"),
    ("resources: [a.yaml, a.yaml]\n", "there twice"),
])
def test_what_cannot_be_rendered_is_an_error(tmp_path, text, said):
    head = "apiVersion: %s\nkind: Kustomization\n" % manifests.API_VERSION
    (tmp_path / "kustomization.yaml").write_text(head + text)
    (tmp_path / "a.yaml").write_text("apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n")
    with pytest.raises(manifests.ManifestError, match=said):
        manifests.render(str(tmp_path))


def test_a_key_that_stands_twice_is_an_error(tmp_path):
    path = tmp_path / "a.yaml"
    path.write_text("spec:\n  a: 1\n  a: 2\n")
    with pytest.raises(manifests.ManifestError, match="a stands there twice"):
        manifests.load(str(path))


def test_the_guard_and_the_webhook_name_the_same_keys():
    guard = one("ValidatingAdmissionPolicy", "aliquot-guard")
    values = {item["name"]: item["expression"] for item in guard["spec"]["variables"]}
    assert our_keys(values["guarded"]) == GUARDED
    assert our_keys(values["held"]) | GUARDED == HELD
    assert our_keys(values["keys"]) == {"grants", "injection"}
    assert our_keys(values["labelKeys"]) == {"tenant", "capacity", "in-use", "probe"}
    webhook = one("MutatingWebhookConfiguration", "zz-aliquot")["webhooks"][0]
    condition = webhook["matchConditions"][0]["expression"]
    assert our_keys(condition) == GUARDED | {"grants", "in-use", "tenant", "gpu"}


def test_the_controller_knows_these_names():
    with open(NAMES_H, encoding="utf-8") as file:
        text = file.read()
    for key in HELD | {"grants", "tenant", "capacity", "in-use", "gpu"}:
        assert '"aliquot.dev/%s"' % key in text, key
    for name in ("aliquot-system", "aliquot-canary", "aliquot-controller", "aliquot-webhook",
                 "aliquot-capacity", "zz-aliquot", "aliquot-term", "aliquot-agent"):
        assert '"%s"' % name in text, name


def test_c33_the_fence_is_about_our_lease_and_our_tenants_only():
    policy = one("ValidatingAdmissionPolicy", "aliquot-term")["spec"]
    assert policy["paramKind"] == {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease"}
    for binding, name in (("aliquot-term", "aliquot-controller"), ("aliquot-term-kept", "aliquot-term")):
        bound = one("ValidatingAdmissionPolicyBinding", binding)["spec"]
        where = bound["paramRef"]
        assert (bound["policyName"], bound["validationActions"]) == ("aliquot-term", ["Deny"])
        assert (where["name"], one("Lease", name)["metadata"]["namespace"]) == (name, where["namespace"])
        assert where["parameterNotFoundAction"] == "Allow"
    constraints = policy["matchConstraints"]
    assert constraints["objectSelector"] == {"matchLabels": {"aliquot.dev/tenant": "true"}}
    assert constraints["resourceRules"] == [{"apiGroups": [""], "apiVersions": ["v1"],
                                             "operations": ["UPDATE"], "resources": ["pods"]}]


def test_each_kind_of_pod_has_a_user_of_its_own():
    """A process may read the environment and the files of another one of its user, and agents share the processes of
    their node."""
    with open(os.path.join(manifests.TREE, "include", "model", "uids.h"), encoding="utf-8") as file:
        uids = {name: int(uid) for name, uid in re.findall(r"#define UID_(\w+)\s+(\d+)", file.read())}
    assert len(set(uids.values())) == len(uids) == 6
    for name, uid in uids.items():
        # Not of systemd's ranges (60001-60705, 61184-65519), nor of user namespaces, nor of many images.
        assert 60705 < uid < 61184, name
    for kind, name, uid in (("Deployment", "aliquot-controller", uids["CONTROLLER"]),
                            ("DaemonSet", "aliquot-agent", uids["AGENT"])):
        security = one(kind, name)["spec"]["template"]["spec"]["securityContext"]
        assert security["runAsUser"] == security["runAsGroup"] == security.get("fsGroup", uid) == uid, name
    with open(os.path.join(manifests.TREE, "docs", "operating.md"), encoding="utf-8") as file:
        text = file.read()
    assert "USER %d:%d" % (uids["CONTROLLER"], uids["CONTROLLER"]) in text
    for uid in uids.values():
        assert "| %d" % uid in text


def test_the_relay_has_no_token():
    """It is root, and passes bytes on: nothing else of its pod is its own."""
    spec = one("DaemonSet", "aliquot-agent")["spec"]["template"]["spec"]
    agent, relay = spec["containers"]
    assert spec["automountServiceAccountToken"] is False
    projected = [volume["name"] for volume in spec["volumes"] if "projected" in volume]
    assert [mount["mountPath"] for mount in agent["volumeMounts"] if mount["name"] in projected] == [
        "/var/run/secrets/kubernetes.io/serviceaccount"]
    assert not [mount for mount in relay["volumeMounts"] if mount["name"] in projected + ["tls"]]


def test_the_webhook_is_what_c1_asks_for():
    obj = one("MutatingWebhookConfiguration", "zz-aliquot")
    assert obj["metadata"]["annotations"] == {"admissions.enforcer/disabled": "true"}
    webhook, = obj["webhooks"]
    assert webhook["name"] == "pods.aliquot.dev"
    assert webhook["timeoutSeconds"] == 2
    assert webhook["sideEffects"] == "None"
    assert webhook["reinvocationPolicy"] == "IfNeeded"
    assert webhook["failurePolicy"] == "Ignore"
    assert webhook["admissionReviewVersions"] == ["v1"]
    assert webhook["clientConfig"] == {"service": {
        "name": "aliquot-webhook", "namespace": "aliquot-system", "path": "/admit", "port": 443}}
    assert webhook["namespaceSelector"] == {"matchExpressions": [{
        "key": "kubernetes.io/metadata.name", "operator": "NotIn",
        "values": ["aliquot-system", "kube-system"]}]}
    assert webhook["rules"] == [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"],
                                 "resources": ["pods"], "scope": "Namespaced"},
                                {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["UPDATE"],
                                 "resources": ["pods/ephemeralcontainers"], "scope": "Namespaced"}]
    assert our_keys(webhook["matchConditions"][1]["expression"]) == {"tenant"}
    port, = one("Service", "aliquot-webhook")["spec"]["ports"]
    assert (port["port"], port["targetPort"]) == (443, 10250)


def test_an_agent_is_what_the_controller_looks_for_and_has_no_right_to_spare():
    """Found by its label and port (docs/design/state.md); no root but in its relay, no capability, no network of the
    host's."""
    template = one("DaemonSet", "aliquot-agent")["spec"]["template"]
    spec, (container, relay) = template["spec"], template["spec"]["containers"]
    assert template["metadata"]["labels"]["aliquot.dev/agent"] == "true"
    assert {port["name"]: port["containerPort"] for port in container["ports"]} == {"metrics": 9400, "state": 10251}
    assert spec["hostPID"] and not {"hostNetwork", "hostIPC"} & set(spec)
    assert spec["securityContext"]["runAsNonRoot"]
    least = {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
    assert container["securityContext"] == least
    # Root, because the kubelet's socket is; it has neither a port nor what the agent has.
    assert relay["securityContext"] == {**least, "runAsUser": 0, "runAsNonRoot": False}
    assert not {"ports", "env"} & set(relay)
    assert {mount["name"]: mount.get("readOnly", False) for mount in relay["volumeMounts"]} == {
        "relay": False, "pod-resources": True}
    paths = {volume["name"]: volume["hostPath"]["path"] for volume in spec["volumes"] if "hostPath" in volume}
    assert paths == {"cgroup": "/sys/fs/cgroup", "mps": "/run/aliquot/mps",
                     "pod-resources": "/var/lib/kubelet/pod-resources"}
    assert "pod-resources" not in [mount["name"] for mount in container["volumeMounts"]]
    assert all(mount["readOnly"] for mount in container["volumeMounts"])
    assert not [volume for volume in spec["volumes"] if "secret" in volume]
    assert template["metadata"]["labels"]["aliquot.dev/agent-key"] == "own" and "--own-key" in container["args"]
    assert one("PriorityClass", spec["priorityClassName"])["preemptionPolicy"] == "Never"
    policy = one("NetworkPolicy", "aliquot-agent")["spec"]
    assert policy["podSelector"]["matchLabels"].items() <= template["metadata"]["labels"].items()
    state, = [rule for rule in policy["ingress"] if rule["ports"] == [{"protocol": "TCP", "port": 10251}]]
    assert state["from"], "only the controller asks for the state"


COMPONENTS = {
    "cdi": ("spec", {"runtimeClassName": "nvidia"}),
    "nri": ("metadata", {"annotations": {"nvidia.cdi.k8s.io/container.agent": "management.nvidia.com/gpu=all"}}),
    "driver-upgrade": ("spec", {"nodeSelector": {"nvidia.com/gpu.deploy.client": "true"}})}


def agent_with(objects):
    return next(obj for obj in objects if obj["kind"] == "DaemonSet")["spec"]["template"]


@pytest.mark.parametrize("name", COMPONENTS)
def test_a_component_lets_the_agent_live_with_a_gpu_operator(name):
    """Each adds its own to the agent, nothing is lost, and nobody else is touched."""
    part, added = COMPONENTS[name]
    before = manifests.render()
    after = manifests.with_component(before, name)
    changed = [obj["metadata"]["name"] for obj, old in zip(after, before) if obj != old]
    assert changed == ["aliquot-agent"]
    template, old = agent_with(after), agent_with(before)
    for key, value in added.items():
        assert key not in old[part] or isinstance(value, dict)
        expected = {**old[part].get(key, {}), **value} if isinstance(value, dict) else value
        assert template[part][key] == expected
    assert {container["name"] for container in template["spec"]["containers"]} >= {"agent"}


def test_a_component_gives_all_agents_one_key():
    """Where tokens do not name their node. The controller is told so by the pod, and nobody else is touched."""
    before = manifests.render()
    after = manifests.with_component(before, "shared-agent-key")
    assert [obj["metadata"]["name"] for obj, old in zip(after, before) if obj != old] == ["aliquot-agent"]
    template, old = agent_with(after), agent_with(before)
    assert template["metadata"]["labels"] == {**old["metadata"]["labels"], "aliquot.dev/agent-key": "shared"}
    agent, = [one for one in template["spec"]["containers"] if one["name"] == "agent"]
    plain, = [one for one in old["spec"]["containers"] if one["name"] == "agent"]
    assert agent["args"] == plain["args"] + ["--tls-dir=/etc/aliquot/tls"]
    mount, volume = agent["volumeMounts"][-1], template["spec"]["volumes"][-1]
    assert mount == {"name": volume["name"], "mountPath": "/etc/aliquot/tls", "readOnly": True}
    assert one("Secret", volume["secret"]["secretName"])


@pytest.mark.parametrize("name", [*COMPONENTS, "shared-agent-key", "restricted"])
def test_kubectl_renders_the_same_with_a_component(tmp_path, name):
    kubectl = shutil.which("kubectl")
    if not kubectl:
        pytest.skip("kubectl is not installed")
    paths = [os.path.relpath(os.path.join(manifests.MANIFESTS, part), os.path.realpath(tmp_path))
             for part in (".", os.path.join("overlays", name))]
    (tmp_path / "kustomization.yaml").write_text(
        "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [%s]\ncomponents: [%s]\n" % tuple(paths))
    text = subprocess.run([kubectl, "kustomize", str(tmp_path)], check=True, timeout=60, capture_output=True).stdout
    theirs = {manifests.key_of(obj): obj for obj in yaml.safe_load_all(text)}
    assert theirs == {manifests.key_of(obj): obj for obj in manifests.with_component(manifests.render(), name)}


def test_every_term_of_the_agents_affinity_lets_a_driver_upgrade_begin():
    """An agent that stays keeps the driver loaded, and its upgrade waits for good."""
    affinity = agent_with(manifests.render())["spec"]["affinity"]["nodeAffinity"]
    for term in affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]:
        leaves = [rule for rule in term["matchExpressions"] if rule["key"] == "nvidia.com/gpu.deploy.client"]
        assert [(rule["operator"], "paused-for-driver-upgrade" in rule["values"]) for rule in leaves] == [("NotIn", True)]
        assert len(term["matchExpressions"]) == 2


def test_who_may_reach_which_port():
    """The webhook's port alone is everybody's, for API servers are no pods; nobody of a tenant's namespace reaches another."""
    asked = {}
    for policy in manifests.render():
        if policy["kind"] == "NetworkPolicy":
            for rule in policy["spec"].get("ingress", []):
                for port in rule["ports"]:
                    asked.setdefault((policy["metadata"]["name"], port["port"]), []).extend(rule.get("from", ["anybody"]))
    assert set(asked) == {("aliquot-controller", 10250), ("aliquot-controller", 8080), ("aliquot-agent", 9400),
                          ("aliquot-agent", 10251)}
    assert asked["aliquot-controller", 10250] == ["anybody"]
    ours = {"podSelector": {"matchLabels": {"app.kubernetes.io/name": "aliquot",
                                            "app.kubernetes.io/component": "controller"}}}
    assert asked["aliquot-agent", 10251] == [ours]
    monitoring = [who for who in asked["aliquot-agent", 9400] if who != ours]
    assert ours in asked["aliquot-agent", 9400] and monitoring == asked["aliquot-controller", 8080]
    assert all(set(who) == {"namespaceSelector"} and who["namespaceSelector"] for who in monitoring)
    label, names = [who["namespaceSelector"] for who in monitoring]
    assert label == {"matchLabels": {"aliquot.dev/monitoring": "true"}}
    assert names["matchExpressions"][0]["key"] == "kubernetes.io/metadata.name" and \
        "default" not in names["matchExpressions"][0]["values"]


def test_the_webhook_url_can_be_replaced():
    url = "https://127.0.0.1:20001/admit"
    changed = manifests.with_webhook_url(manifests.render(), url)
    configured = [obj for obj in changed if obj["kind"] == "MutatingWebhookConfiguration"]
    assert [hook["clientConfig"] for hook in configured[0]["webhooks"]] == [{"url": url}]


def test_state_is_shipped_empty():
    for name in ("aliquot-controller", "aliquot-term"):
        assert "spec" not in one("Lease", name)
    for name in ("aliquot-webhook", "aliquot-agent"):
        assert not {"data", "stringData"} & set(one("Secret", name))
    webhook = one("MutatingWebhookConfiguration", "zz-aliquot")["webhooks"][0]
    assert "caBundle" not in webhook["clientConfig"]


@pytest.mark.parametrize("crd", [obj for obj in manifests.render()
                                 if obj["kind"] == "CustomResourceDefinition"],
                         ids=lambda crd: crd["spec"]["names"]["kind"])
def test_every_field_is_described_and_limited(crd):
    version, = crd["spec"]["versions"]
    schema = version["schema"]["openAPIV3Schema"]
    assert schema["description"]
    problems = []
    for part in ("spec", "status"):
        _walk(schema["properties"][part], part, problems)
    assert not problems


def _walk(schema, path, problems, described=True):
    kind = schema.get("type")
    if described and not schema.get("description"):
        problems.append(path + " has no description")
    if kind == "string" and not {"maxLength", "enum"} & set(schema) \
            and schema.get("format") != "date-time":
        problems.append(path + " has no limit")
    if kind == "array":
        if "maxItems" not in schema:
            problems.append(path + " has no maxItems")
        if "x-kubernetes-list-type" not in schema:
            problems.append(path + " has no list type")
        _walk(schema["items"], path + "[]", problems, described=False)
    for name, child in schema.get("properties", {}).items():
        _walk(child, path + "." + name, problems)
    if "additionalProperties" in schema:
        if "maxProperties" not in schema:
            problems.append(path + " has no maxProperties")
        _walk(schema["additionalProperties"], path + "{}", problems, described=False)
    for rule in schema.get("x-kubernetes-validations", []):
        if len(rule.get("message", "")) < 30:
            problems.append(path + " has a rule without a sentence")


def test_the_document_has_every_field():
    """docs/policies.md is made from the schemas: python3 test/lib/fields.py writes it anew."""
    with open(fields.DOCUMENT, encoding="utf-8") as file:
        text = file.read()
    for kind in ("GPUPolicy", "GPURecommendation", "GPUWorkloadGroup", "GPUUsageCheckpoint"):
        for part in ("spec", "status"):
            assert "<!-- fields of %s %s -->" % (kind, part) in text
    assert text == fields.filled(text)
