"""The fence of manifests/: a placement of an earlier term is refused by the API server (C33).

The Lease of the installed manifests is written here as a controller writes it. The policy's view of
it may be a moment old, so what must be refused is waited for; what must pass must pass at once.
"""

import pytest

import manifests
from api import ApiError
from apisuite import refusal
from waiting import wait_until

P = "aliquot.dev/"
TERM = P + "term"
HOME = "aliquot-system"
LEASE = "aliquot-controller"
HEAD = "ValidatingAdmissionPolicy 'aliquot-term' with binding 'aliquot-term' denied request: "
SENTENCE = ("this placement is of term %s, and the Lease aliquot-controller is in term %d: another "
            "leader has it by now, and this must not be done any more")


def placing(term, **more):
    """What a placement says, as far as it matters here."""
    return {"metadata": {"annotations": dict({TERM: term}, **more)}}


def refused(client, name, space, term, now):
    error = refusal(client.patch, "pods", name, placing(term), space)
    assert (error.status, error.reason) == (403, "Forbidden"), error
    assert error.message.partition(HEAD)[2] == SENTENCE % (term, now), error.message


@pytest.fixture
def term(admin, controller, space, pods):
    """Sets the number of the Lease, and waits until the API server knows it."""
    pods("fence-probe", labels={P + "tenant": "true"})

    def known(number):
        """A dry run of the number before is refused, and with it what is to be refused."""
        try:
            controller.patch("pods", "fence-probe", placing(str(number - 1)), space, dryRun="All")
        except ApiError as error:
            return HEAD in error.message and "in term %d:" % number in error.message
        return False

    def put(number):
        controller.patch("leases", LEASE, {"spec": {"leaseTransitions": number}}, HOME)
        if number > 0:
            wait_until(lambda: known(number), 60, "the policy to know of term %d" % number)
    yield put
    admin.patch("leases", LEASE, {"spec": None}, HOME)

    def forgotten():
        """Whoever comes next would be refused by what is known of the term until then."""
        controller.patch("pods", "fence-probe", placing("0"), space, dryRun="All")
        return True
    wait_until(forgotten, 60, "the policy to know of no term", ignore=(ApiError,))


@pytest.fixture
def tenant(pods):
    return lambda name: pods(name, labels={P + "tenant": "true"})


def test_c33_an_earlier_term_is_refused(term, tenant, controller, space):
    tenant("late")
    term(5)
    for number in ("4", "0", "0004"):
        refused(controller, "late", space, number, 5)
    assert TERM not in controller.get("pods", "late", space)["metadata"].get("annotations", {})
    # The decimal numbers are compared, not their texts.
    term(10)
    refused(controller, "late", space, "9", 10)


def test_c33_the_same_and_later_terms_pass(term, tenant, controller, space):
    """What the API server knows of the Lease may be old: a new leader is never refused for it."""
    term(5)
    for number in ("5", "6", "4294967295", "9999999999"):
        tenant("good-" + number)
        controller.patch("pods", "good-" + number, placing(number), space)


def test_c33_another_share_of_an_earlier_term_is_refused(term, tenant, controller, space):
    """Its number is the one that stands there, from the same leader's placement."""
    tenant("resized")
    term(5)
    controller.patch("pods", "resized", placing("5"), space)
    first = {P + "resized": "2026-01-01T00:00:00.000000Z"}
    controller.patch("pods", "resized", placing("5", **first), space)
    term(6)
    error = refusal(controller.patch, "pods", "resized",
                    placing("5", **{P + "resized": "2026-01-01T00:00:01.000000Z"}), space)
    assert error.message.partition(HEAD)[2] == SENTENCE % ("5", 6), error.message
    # Whatever else the controller says of it says nothing about a share.
    controller.patch("pods", "resized", placing("5", **{P + "note": "x", **first}), space)
    controller.patch("pods", "resized", placing("6", **{P + "resized": "2026-01-01T00:00:02.000000Z"}), space)


def test_c33_at_the_moment_of_the_change_nobody_good_is_refused(term, tenant, controller, space):
    term(7)
    for number in range(8, 28):
        tenant("moment-%d" % number)
        controller.patch("leases", LEASE, {"spec": {"leaseTransitions": number}}, HOME)
        controller.patch("pods", "moment-%d" % number, placing(str(number)), space)


@pytest.mark.parametrize("value", ["", "x", "-1", "+9", "9 ", "9.0", "1e9", "99999999999"])
def test_what_is_no_number_is_refused(term, tenant, controller, space, value):
    term(5)
    tenant("odd")
    refused(controller, "odd", space, value, 5)


def test_what_a_pod_has_may_stay(term, tenant, controller, admin, space):
    """Whoever was placed in an earlier term is written to as before, by everybody."""
    tenant("old")
    term(5)
    controller.patch("pods", "old", placing("5"), space)
    term(6)
    note = {"metadata": {"annotations": {P + "note": "b"}}}
    for client in (controller, admin):
        client.patch("pods", "old", note, space)
    admin.patch("pods", "old", {"status": {"message": "x"}}, space, "status")
    controller.patch("pods", "old", {"status": {"conditions": [{"type": P + "Placed", "status": "True"}]}}, space, "status",
                     "strategic")
    obj = admin.get("pods", "old", space)
    obj["metadata"]["annotations"][P + "note"] = "c"
    # The scheduler may say something of it meanwhile.
    del obj["metadata"]["resourceVersion"]
    admin.replace("pods", obj)
    refused(controller, "old", space, "5 ", 6)
    controller.patch("pods", "old", placing(None), space)


def test_a_version_without_terms_goes_on(term, tenant, controller, space):
    tenant("plain")
    term(5)
    controller.patch("pods", "plain", {"metadata": {"annotations": {P + "gpu-uuid": "GPU-1"}}}, space)


def test_nobody_elses_pods_are_touched(term, pods, controller, space):
    """Without our mark the number means nothing (and the guard keeps others from writing it)."""
    term(5)
    pods("no-tenant")
    controller.patch("pods", "no-tenant", placing("1"), space)


def test_a_lease_that_nobody_ever_held_refuses_nobody(term, tenant, controller, admin, space):
    """As after the installation, and where the Lease was deleted and made again."""
    term(5)
    admin.delete("leases", LEASE, HOME)
    gone = "without-lease"
    tenant(gone)

    def passes():
        controller.patch("pods", gone, placing("1"), space)
        return True
    wait_until(passes, 60, "the policy to know that there is no Lease", ignore=(ApiError,))
    lease, = [obj for obj in manifests.render() if obj["kind"] == "Lease"]
    admin.apply(lease)
    tenant("first-of-all")
    controller.patch("pods", "first-of-all", placing("1"), space)


def test_a_person_cannot_set_it(term, tenant, admin, space):
    term(5)
    tenant("forged")
    for number in ("99", "1"):
        error = refusal(admin.patch, "pods", "forged", placing(number), space)
        assert "'aliquot-guard'" in error.message and TERM in error.message
