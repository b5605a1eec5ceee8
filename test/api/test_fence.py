"""The fence of manifests/: a placement of an earlier term is refused by the API server (C33).

The Leases of the installed manifests are written here as a controller writes them: the one that is taken, which versions
before this one raise alone, and the one that keeps the number. The policy's view of them may be a moment old, so what must
be refused is waited for; what must pass must pass at once.
"""

import pytest

import manifests
from api import ApiError
from apisuite import refusal
from waiting import wait_until

P = "aliquot.dev/"
TERM = P + "term"
HOME = "aliquot-system"
LEASES = ("aliquot-controller", "aliquot-term")
KEPT = LEASES[1]
HEAD_KEPT = "ValidatingAdmissionPolicy 'aliquot-term' with binding 'aliquot-term-kept' denied request: "
HEAD = "ValidatingAdmissionPolicy 'aliquot-term' with binding 'aliquot-term' denied request: "
SENTENCE = ("this placement is of term %s, and the Lease %s is in term %d: another "
            "leader has it by now, and this must not be done any more")


def placing(term, **more):
    """What a placement says, as far as it matters here."""
    return {"metadata": {"annotations": dict({TERM: term}, **more)}}


def tells(error, term, now):
    """By either Lease; what is no number is refused by the one that nobody ever held, too."""
    return any(error.message.endswith(head + SENTENCE % (term, lease, number))
               for head, lease in zip((HEAD, HEAD_KEPT), LEASES) for number in (now, 0))


def refused(client, name, space, term, now):
    error = refusal(client.patch, "pods", name, placing(term), space)
    assert (error.status, error.reason) == (403, "Forbidden"), error
    assert tells(error, term, now), error.message


def shipped(name):
    lease, = [obj for obj in manifests.render() if obj["kind"] == "Lease" and obj["metadata"]["name"] == name]
    return lease


@pytest.fixture(params=LEASES)
def lease(request):
    return request.param


@pytest.fixture
def term(admin, controller, space, pods, lease):
    """Sets the number of one of the Leases, and waits until the API server knows it."""
    pods("fence-probe", labels={P + "tenant": "true"})

    def known(number):
        """A dry run of the number before is refused, and with it what is to be refused."""
        try:
            controller.patch("pods", "fence-probe", placing(str(number - 1)), space, dryRun="All")
        except ApiError as error:
            return "'aliquot-term'" in error.message and "in term %d:" % number in error.message
        return False

    def put(number):
        controller.patch("leases", lease, {"spec": {"leaseTransitions": number}}, HOME)
        if number > 0:
            wait_until(lambda: known(number), 60, "the policy to know of term %d" % number)
    yield put
    # Nobody may lower the number of the one that keeps it.
    admin.delete("leases", lease, HOME)
    admin.apply(shipped(lease))

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
    assert tells(error, "5", 6), error.message
    # Whatever else the controller says of it says nothing about a share.
    controller.patch("pods", "resized", placing("5", **{P + "note": "x", **first}), space)
    controller.patch("pods", "resized", placing("6", **{P + "resized": "2026-01-01T00:00:02.000000Z"}), space)


def test_c33_at_the_moment_of_the_change_nobody_good_is_refused(term, tenant, controller, space, lease):
    term(7)
    for number in range(8, 28):
        tenant("moment-%d" % number)
        controller.patch("leases", lease, {"spec": {"leaseTransitions": number}}, HOME)
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


def test_a_lease_that_nobody_ever_held_refuses_nobody(term, tenant, controller, admin, space, lease):
    """As after the installation, and where the Lease was deleted and made again."""
    term(5)
    admin.delete("leases", lease, HOME)
    gone = "without-lease"
    tenant(gone)

    def passes():
        controller.patch("pods", gone, placing("1"), space)
        return True
    wait_until(passes, 60, "the policy to know that there is no Lease", ignore=(ApiError,))
    admin.apply(shipped(lease))
    tenant("first-of-all")
    controller.patch("pods", "first-of-all", placing("1"), space)


def test_c33_a_lease_that_a_tool_restored_lets_no_earlier_term_in(tenant, controller, admin, space):
    """Its number is gone, and that of the other stands."""
    tenant("restored")
    for name in LEASES:
        controller.patch("leases", name, {"spec": {"leaseTransitions": 7}}, HOME)

    def known():
        error = None
        try:
            controller.patch("pods", "restored", placing("6"), space, dryRun="All")
        except ApiError as caught:
            error = caught
        return error is not None and HEAD_KEPT in error.message
    admin.patch("leases", LEASES[0], {"spec": None}, HOME)
    try:
        wait_until(known, 60, "the policy to know of term 7 by the Lease that keeps it alone")
        assert refusal(admin.patch, "leases", KEPT, {"spec": None}, HOME).status == 403
        refused(controller, "restored", space, "6", 7)
    finally:
        admin.delete("leases", KEPT, HOME)
        admin.apply(shipped(KEPT))


def test_the_number_that_is_kept_only_rises_and_by_the_controller_alone(controller, admin):
    def number(value):
        return {"spec": {"leaseTransitions": value}}
    controller.patch("leases", KEPT, number(7), HOME)
    try:
        for client, value in ((controller, 6), (controller, None), (admin, 6), (admin, 8), (admin, None)):
            error = refusal(client.patch, "leases", KEPT, number(value), HOME)
            assert error.status == 403 and "'aliquot-term-rises'" in error.message, error
        controller.patch("leases", KEPT, number(7), HOME)
        controller.patch("leases", KEPT, number(9), HOME)
        admin.patch("leases", KEPT, {"metadata": {"annotations": {"example.com/note": "x"}}}, HOME)
        # Applying the manifests again leaves it alone.
        admin.apply(shipped(KEPT))
        assert admin.get("leases", KEPT, HOME)["spec"]["leaseTransitions"] == 9
    finally:
        admin.delete("leases", KEPT, HOME)
        admin.apply(shipped(KEPT))


def test_whoever_leads_makes_it_again_by_its_name_alone(controller, admin):
    def path(name):
        return "/apis/coordination.k8s.io/v1/namespaces/%s/leases/%s?fieldManager=aliquot&force=true" % (HOME, name)

    def body(name):
        return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name},
                "spec": {"leaseTransitions": 4}}
    admin.delete("leases", KEPT, HOME)
    try:
        made = controller.request("PATCH", path(KEPT), body(KEPT), content_type="application/apply-patch+yaml")
        assert made["spec"]["leaseTransitions"] == 4
        for name in ("aliquot-other", LEASES[0] + "-2"):
            error = refusal(controller.request, "PATCH", path(name), body(name), content_type="application/apply-patch+yaml")
            assert error.status == 403, error
    finally:
        admin.delete("leases", KEPT, HOME)
        admin.apply(shipped(KEPT))


def test_a_person_cannot_set_it(term, tenant, admin, space):
    term(5)
    tenant("forged")
    for number in ("99", "1"):
        error = refusal(admin.patch, "pods", "forged", placing(number), space)
        assert "'aliquot-guard'" in error.message and TERM in error.message
