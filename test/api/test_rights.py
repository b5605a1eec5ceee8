"""What our own pods and accounts have, as the API server makes them of manifests/."""

import manifests

HOME = "aliquot-system"
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount"


def test_the_api_server_gives_the_relay_no_token(admin):
    """It mounts one into every container where nothing else is said."""
    daemons, = [obj for obj in manifests.render() if obj["kind"] == "DaemonSet"]
    template = daemons["spec"]["template"]
    made = admin.create("pods", {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
                                 "metadata": dict(template["metadata"], name="agent-of-a-test", namespace=HOME)},
                        dryRun="All")
    spec = made["spec"]
    mounts = {container["name"]: [mount["name"] for mount in container["volumeMounts"] if mount["mountPath"] == TOKEN]
              for container in spec["containers"]}
    assert mounts == {"agent": ["token"], "relay": []}
    tokens = [volume["name"] for volume in spec["volumes"]
              if any("serviceAccountToken" in source for source in volume.get("projected", {}).get("sources", []))]
    assert tokens == ["token"]
