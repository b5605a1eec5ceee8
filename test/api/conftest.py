"""What the API suite shares: the manifests, installed once on the session's control plane."""

import pytest

import manifests
from api import ApiError
from apisuite import pod
from waiting import wait_until


@pytest.fixture(scope="session")
def installed(cp):
    """The objects of manifests/ as the server stored them, by (kind, namespace, name)."""
    stored = manifests.install(cp.admin)
    return {manifests.key_of(obj): obj for obj in stored}


@pytest.fixture(scope="session")
def admin(cp, installed):  # pylint: disable=unused-argument
    """Somebody who may do everything: system:masters."""
    return cp.admin


@pytest.fixture(scope="session")
def controller(cp, installed):  # pylint: disable=unused-argument
    """The controller's own account, with the rights of manifests/ and no others."""
    return cp.client("controller")


@pytest.fixture(scope="session")
def agent(cp, installed):  # pylint: disable=unused-argument
    """An agent's own account."""
    return cp.client("agent")


@pytest.fixture(scope="session")
def jane(cp, installed, space):  # pylint: disable=unused-argument
    """An ML engineer: the role edit in the suite's namespace."""
    cp.admin.apply({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding",
                    "metadata": {"name": "jane", "namespace": space},
                    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole",
                                "name": "edit"},
                    "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User",
                                  "name": "jane"}]})
    client = cp.client("jane")
    # Who judges requests learns of the role a moment later.
    wait_until(lambda: client.create("pods", pod("probe", space), dryRun="All"), 60, "the role of jane",
               ignore=(ApiError,))
    return client


@pytest.fixture(scope="session")
def space(cp):
    """A namespace for the suite's pods, with its default service account."""
    name = "api-suite"
    cp.admin.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    wait_until(lambda: cp.admin.find("serviceaccounts", "default", name), 60,
               "the default service account")
    return name


@pytest.fixture
def pods(cp, admin, space):  # pylint: disable=unused-argument
    """Makes pods of the suite's namespace (or another) and removes them after the test."""
    made = []

    def make(name="pod", namespace=space, client=None, gates=(), **meta):
        obj = (client or cp.admin).create("pods", pod(name, namespace, gates, **meta))
        made.append(obj)
        return obj
    yield make
    for obj in made:
        try:
            cp.admin.delete("pods", obj["metadata"]["name"], obj["metadata"]["namespace"], grace=0)
        except ApiError as error:
            if error.status != 404:
                raise
