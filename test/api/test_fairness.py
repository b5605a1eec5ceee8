"""How the API server ranks what the controller asks: its Lease does not wait behind others' requests."""

from waiting import wait_until

LEASE = "/apis/coordination.k8s.io/v1/namespaces/aliquot-system/leases/aliquot-controller"


def schema_of(client, path):
    """By which FlowSchema a request is ranked, as the API server's answer says."""
    # pylint: disable=protected-access
    connection = client._connect(30)
    try:
        connection.request("GET", path, headers=client._headers(None, "application/json"))
        answer = connection.getresponse()
        answer.read()
        return answer.headers["X-Kubernetes-PF-FlowSchema-UID"]
    finally:
        connection.close()


def uid_of(admin, name):
    return admin.get("flowschemas.flowcontrol.apiserver.k8s.io/v1", name)["metadata"]["uid"]


def test_the_lease_is_renewed_at_the_level_of_leader_elections(admin, controller, agent):
    ours = uid_of(admin, "aliquot-leases")
    wait_until(lambda: schema_of(controller, LEASE) == ours, 60, "the API server to heed the FlowSchema")
    level = admin.get("flowschemas.flowcontrol.apiserver.k8s.io/v1", "aliquot-leases")["spec"]["priorityLevelConfiguration"]["name"]
    assert level == "leader-election"
    assert admin.get("prioritylevelconfigurations.flowcontrol.apiserver.k8s.io/v1", level)["spec"]["type"] == "Limited"
    # What else it asks, and what others ask, is ranked as before.
    assert schema_of(controller, "/api/v1/pods?limit=1") == uid_of(admin, "service-accounts")
    assert schema_of(agent, LEASE) != ours


def test_nobody_is_displaced_for_the_controller(installed):
    class_ = installed["PriorityClass", "", "aliquot-controller"]
    deployment = installed["Deployment", "aliquot-system", "aliquot-controller"]
    assert deployment["spec"]["template"]["spec"]["priorityClassName"] == class_["metadata"]["name"]
    assert class_["preemptionPolicy"] == "Never" and class_["value"] == 1000000000
    assert not class_.get("globalDefault")
