"""What people write that cannot be meant (case 25 of docs/design/conformance.md): it never reaches the books, never stops
a pod; the pod starts whole, and its creator, an event and a condition say what to write instead.
"""

import concurrent.futures

import pytest

import asking
from helpers import P, events, gates, is_tenant, is_whole, note
from waiting import wait_until

STACK = asking.STACK
LONG = 64 << 10
# Not where another test's pod was just killed: its device is free only some time after.
WIDE = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
    {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In",
                           "values": [name for name, gpus in STACK["nodes"] if gpus > 1]}]}]}}}

FRACTIONS = [
    "NaN", "nan", "inf", "-inf", "Infinity", "1e309", "1e-300", "0x1p-1", "0x10", "-1", "-0", "0",
    "0.0", "0.0001", "1.0001", "1.001", "1.1", "2", "2Gi", "9223372036854775808", "-500m", "0,5",
    "500M", " 0.5", "0.5 ", "0.5\n", "\t0.5", "0.5\r\nX-Forged: yes", "", " ", "\u0660.\u0665",
    "\uff10.\uff15", "\u00bd", "0.5\u0007", "a" * LONG, "9" * LONG, "0." + "0" * LONG + "1",
    "0.5 m", "0.5.5", "1/2", "50%", "true", "null", "0.25\u202e", "1_000", "1e", "e3", "+", ".",
    "1e-4", "5e-5", "{}", "$(SHARE)", '"0.5"', "\\u0030", "0.5;rm", "\u20ac" * 100, "\U0001f4a9",
]
MEMORIES = [
    "NaN", "inf", "1e309", "-1Gi", "0", "0Gi", "1", "1048575", "0.5Ki", "8Gb", "8GB", "8gi", "8gib",
    "8 Gi", "8Gi\n", "", "0x10", "9" * LONG, "2Pi", "16Ei", "9223372036854775808", "\uff18Gi",
    "8Gi8Gi", "8,5Gi", "1e60", "Gi", "-0",
]
COUNTS = ["0", "-1", "1.0", "17", "two", "", "1 ", "0x1", "\uff11", "1e0", "99999999999999999999",
          "NaN", "1m", "1\n", "1" * LONG]
CASES = [("gpu-fraction", value) for value in FRACTIONS] + \
        [("gpu-memory", value) for value in MEMORIES] + [("gpu-count", value) for value in COUNTS]
EXPECTED = {
    "gpu-fraction": 'a share from 0.001 to 1, for example "0.25"',
    "gpu-memory": 'an amount of at least 1Mi, for example "8Gi"',
    "gpu-count": 'the number of GPUs in plain digits, for example "2"',
}
# Written in another way than ours, and meant: the one canonical form is kept.
CANONICAL = [
    ("gpu-fraction", "500m", "share", "0.50"), ("gpu-fraction", "5e-1", "share", "0.50"),
    ("gpu-fraction", ".5", "share", "0.50"), ("gpu-fraction", "0.2500", "share", "0.25"),
    ("gpu-fraction", "0.001", "share", "0.001"), ("gpu-fraction", "999m", "share", "0.999"),
    ("gpu-fraction", "+0.3", "share", "0.30"), ("gpu-fraction", "1E-1", "share", "0.10"),
    ("gpu-memory", "8192Mi", "memory", "8Gi"), ("gpu-memory", "8G", "memory", "7629Mi"),
    ("gpu-memory", "8589934592", "memory", "8Gi"), ("gpu-memory", "1.5Gi", "memory", "1536Mi"),
]


def shown(value):
    return repr(value if len(value) < 24 else value[:8] + "..." + value[-4:])


def named(cases):
    return ["%s=%s" % (case[0], shown(case[1])) for case in cases]


def asked(stack, name, space, key, value):
    notes = {P + key: value}
    if key == "gpu-count":
        notes[P + "gpu-fraction"] = "0.5"
    return stack.pod(name, space, annotations=notes, affinity=WIDE)


@pytest.fixture(scope="module")
def crowd(stacks):
    """Every case at once: {case: (pod as created, warnings, uid)}; the pods stay for the module."""
    stack = stacks.use(STACK)
    with asking.namespace(stack) as space:
        before = asking.books(stack)

        def create(i):
            obj = asked(stack, "bad-%d" % i, space, *CASES[i])
            return asking.create_warned(stack.api, obj)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            made = list(pool.map(create, range(len(CASES))))

        def all_run():
            phases = {pod["metadata"]["uid"]: pod["status"].get("phase")
                      for pod in stack.api.list("pods", space)}
            return all(phases[pod["metadata"]["uid"]] == "Running" for pod, _ in made)

        def idle():
            return [(pod["metadata"]["name"], pod["spec"].get("nodeName"), pod["status"])
                    for pod in stack.api.list("pods", space)
                    if pod["status"].get("phase") != "Running"]
        wait_until(all_run, 120, lambda: "every one of them to run: %d, %s" % (
            len(idle()), idle()[:2]), every=0.5)
        yield stack, space, before, dict(zip(CASES, made))


@pytest.mark.parametrize("case", CASES, ids=named(CASES))
def test_it_starts_whole_and_its_creator_is_told(crowd, case):
    stack, space, _, made = crowd
    pod, warnings = made[case]
    assert is_whole(pod), pod
    assert pod["metadata"]["annotations"][P + case[0]] == case[1]
    pod = stack.get_pod(pod["metadata"]["name"], space)
    assert is_whole(pod) and pod["status"]["phase"] == "Running"
    warning = "\n".join(warnings)
    assert P + case[0] in warning and EXPECTED[case[0]] in warning, warnings
    assert warning.startswith("aliquot.dev: ")
    assert len(warning) < 400


def test_none_of_them_reaches_the_books(crowd):
    stack, space, before, _ = crowd
    tenants, ledgers = asking.books(stack)
    assert tenants.keys() <= before[0].keys() and ledgers.keys() <= before[1].keys()
    assert not [key for key in tenants if key[0] == space]
    assert not [pod for pod in stack.api.list("pods", space) if is_tenant(pod) or gates(pod)]


def test_each_has_a_condition_that_explains(crowd):
    stack, space, _, made = crowd
    names = {pod["metadata"]["name"]: case for case, (pod, _) in made.items()}

    def missing():
        return [names[pod["metadata"]["name"]] for pod in stack.api.list("pods", space)
                if not _explains(asking.told(pod, "BadValue"), names[pod["metadata"]["name"]][0])]
    wait_until(lambda: not missing(), 60, lambda: "conditions of %s" % [
        (key, shown(value)) for key, value in missing()], every=0.3)


def _explains(message, key):
    return message is not None and P + key in message and EXPECTED[key] in message


def test_an_event_says_so_too(stack, name):
    """Events are shed when there are many (C23); of one pod there is one."""
    with asking.namespace(stack) as space:
        pod_name = name()
        pod = stack.api.create("pods", asked(stack, pod_name, space, "gpu-memory", "8Gb"))
        event, = wait_until(lambda: events(stack, pod, "BadValue"), 60, "the event")
        assert (event["type"], event["involvedObject"]["name"]) == ("Warning", pod_name)
        assert _explains(event["message"], "gpu-memory") and '"8Gb"' in event["message"]


@pytest.mark.parametrize("case", CANONICAL, ids=named(CANONICAL))
def test_another_spelling_becomes_the_canonical_one(stack, case):
    key, value, kept, canonical = case
    obj = asked(stack, "spelled", "default", key, value)
    pod, warnings = asking.create_warned(stack.api, obj, dryRun="All")
    assert is_tenant(pod) and note(pod, kept) == canonical and not warnings, (warnings, pod)


@pytest.mark.parametrize("fraction", ["1", "1.0", "1000m", "1e0", "1.000"])
def test_a_whole_gpu_stays_one(stack, fraction):
    obj = asked(stack, "all-of-it", "default", "gpu-fraction", fraction)
    pod, warnings = asking.create_warned(stack.api, obj, dryRun="All")
    assert is_whole(pod) and "the share is a whole GPU" in "".join(warnings)


def test_two_that_cannot_be_read_are_both_named(stack):
    obj = stack.pod("both", fraction="much", memory="8Gb")
    pod, warnings = asking.create_warned(stack.api, obj, dryRun="All")
    assert is_whole(pod)
    assert [key for key in ("gpu-fraction", "gpu-memory") if P + key in "\n".join(warnings)] == [
        "gpu-fraction", "gpu-memory"], warnings


def test_a_count_that_is_not_the_pods_is_told(stack):
    obj = asked(stack, "two", "default", "gpu-count", "2")
    pod, warnings = asking.create_warned(stack.api, obj, dryRun="All")
    assert is_whole(pod)
    assert "aliquot.dev/gpu-count is 2 and must equal the pod's nvidia.com/gpu, 1" in warnings[0]


def test_a_value_with_a_zero_byte_harms_nobody(stack, name):
    """JSON can carry U+0000; C's texts cannot. The pod starts whole, the next one gets its share."""
    odd, next_one = name(), name()
    with asking.namespace(stack) as space:
        pod, _ = asking.create_warned(stack.api, asked(stack, odd, space, "gpu-fraction",
                                                       "0.5\u0000"))
        assert is_whole(pod)
        stack.wait_running(odd, namespace=space)
        stack.create_pod(next_one, namespace=space, fraction="0.5",
                         nodeSelector={"kubernetes.io/hostname": "wide-1"})
        assert is_tenant(stack.wait_running(next_one, 60, namespace=space))
        assert stack.leader() is not None


@pytest.mark.parametrize("key", ["gpu-fraction", "gpu-memory"])
def test_a_namespaces_default_that_cannot_be_read_stops_nobody(stack, name, key):
    """Its pods have an owner, which prints no warnings: the event and the condition tell."""
    with asking.namespace(stack, {P + "default-" + key: "lots"}) as space:
        pod_name = name()
        meta = {"labels": {"app": pod_name}}
        stack.api.create("replicasets", {
            "apiVersion": "apps/v1", "kind": "ReplicaSet",
            "metadata": {"name": pod_name, "namespace": space},
            "spec": {"replicas": 1, "selector": {"matchLabels": meta["labels"]},
                     "template": {"metadata": meta, "spec": stack.pod("x")["spec"]}}})

        def condition():
            return [(pod, asking.told(pod, "BadValue")) for pod in stack.api.list("pods", space)
                    if is_whole(pod) and pod["status"].get("phase") == "Running"]
        # Beside it there may be one that the node refused, its device not being free yet.
        (pod, message), = wait_until(lambda: [one for one in condition() if one[1]], 60,
                                     "a condition")
        assert P + "default-" + key in message and '"lots"' in message, message
        wait_until(lambda: events(stack, pod, "BadValue"), 60, "the event")
