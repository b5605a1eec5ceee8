"""The four kinds on a real API server: what they accept, and what a person reads when they do not.

Every object is sent as a dry run, so that the cases do not see each other.
"""

import pytest

from apisuite import EVERY_POD, RESOURCE, TARGET, VERSION, make, refusal

def policy(name="sample", **spec):
    return make("GPUPolicy", dict({"selector": EVERY_POD}, **spec), name)


def group(name="sample", **spec):
    return make("GPUWorkloadGroup", dict({"rules": [{"imageRegex": "vllm"}]}, **spec), name)


def window(**other):
    return dict({"days": ["Mon"], "start": "22:00", "end": "04:00"}, **other)


def send(api, obj, **params):
    return api.create(RESOURCE[obj["kind"]], obj, dryRun="All", **params)


POLICY_DEFAULTS = {
    "priority": 100, "isDefault": "Never", "mode": "Recommend",
    "compute": {"stepPercent": 5},
    "memory": {"min": "1Gi", "step": "256Mi", "preallocated": "AppMetrics"},
    "history": {"halfLifeSeconds": 86400},
    "update": {"minReplicas": 1, "minPodAgeSeconds": 3600, "cooldownSeconds": 1800,
               "giveBackAfterMinutes": 5,
               "maxUnavailable": 1, "replacement": "SurgeThenEvict", "minChangePercent": 10,
               "allowNodeScaleUp": "Never"},
    "healing": {"memory": {"state": "Enabled", "stepPercent": 20, "minStep": "1Gi",
                           "holdSeconds": 86400},
                "compute": {"state": "Enabled", "stepPercent": 30, "minStepPercent": 10,
                            "holdSeconds": 21600}},
    "sharing": {"isolation": "None", "exclusivity": "AnyWorkload", "packing": "Pack",
                "maxTenants": 16, "idleGraceSeconds": 60, "memoryOveruse": "Report",
                "wholePods": "Leave", "onCapacityLost": "Reacquire",
                "preemption": "LowerPriority"},
    "defragmentation": {"state": "Disabled", "movesPerHour": 6},
}


def test_a_policy_gets_every_default(admin):
    """None of those that differ by the type of work: they would be as good as written."""
    stored = send(admin, policy())
    assert stored["spec"] == dict(POLICY_DEFAULTS, selector=EVERY_POD)


def test_a_part_that_is_written_keeps_the_other_defaults(admin):
    stored = send(admin, policy(compute={"maxPercent": 50}, healing={"memory": {"stepPercent": 50}},
                                update={"windows": [window()]}))
    assert stored["spec"]["compute"] == dict(POLICY_DEFAULTS["compute"], maxPercent=50)
    assert stored["spec"]["healing"] == {
        "memory": dict(POLICY_DEFAULTS["healing"]["memory"], stepPercent=50),
        "compute": POLICY_DEFAULTS["healing"]["compute"]}
    assert stored["spec"]["update"] == dict(
        POLICY_DEFAULTS["update"], windows=[dict(window(), timeZone="UTC")])


def test_a_group_gets_every_default(admin):
    assert send(admin, group())["spec"] == {
        "rules": [{"imageRegex": "vllm"}], "state": "Enabled", "weight": 0, "keyFrom": "OwnerName",
        "retentionSeconds": 691200}


GOOD = {
    "fallback without selector": make("GPUPolicy", {"isDefault": "Fallback"}),
    "fallback with selector": policy(isDefault="Fallback"),
    "selector of everything": policy(selector={
        "namespaceSelector": {"matchLabels": {"a": "b", "example.com/c": ""}, "matchExpressions": [
            {"key": "a", "operator": "In", "values": ["b", "c"]},
            {"key": "example.com/d", "operator": "Exists"}]},
        "podSelector": {"matchExpressions": [{"key": "e", "operator": "NotIn", "values": ["f"]},
                                             {"key": "g", "operator": "DoesNotExist"}]},
        "ownerKinds": [{"group": "apps", "kind": "Deployment"},
                       {"group": "", "kind": "ReplicationController"},
                       {"group": "ray.io", "kind": "RayCluster"}],
        "workloadTypes": ["InferenceRealTime", "Training"]}),
    "equal bounds": policy(compute={"minPercent": 40, "maxPercent": 40},
                           memory={"min": "8Gi", "max": "8Gi"}),
    "memory in other units": policy(memory={"min": "1000M", "max": "80G", "step": "1024Mi"}),
    "required as long as the window": policy(
        history={"windowSeconds": 86400, "requiredSeconds": 86400}),
    "a maximum below every type's minimum": policy(compute={"maxPercent": 3}),
    "a window of an hour": policy(history={"windowSeconds": 3600}),
    "kinds": policy(update={"byKind": [{"kind": "Deployment", "strategy": "OnCreate"},
                                       {"kind": "StatefulSet", "strategy": "Never"}]}),
    "a percentage away": policy(update={"maxUnavailable": "25%"}),
    "all away": policy(update={"maxUnavailable": "100%"}),
    "windows": policy(update={"windows": [
        window(timeZone="Europe/Berlin"), window(timeZone="America/Argentina/Buenos_Aires"),
        window(timeZone="Etc/GMT+12"), window(start="00:00", end="24:00")]}),
    "MPS, alone": policy(sharing={"isolation": "MPS", "exclusivity": "Dedicated",
                                  "maxTenants": 1}),
    "most tenants": policy(sharing={"maxTenants": 64, "idleGraceSeconds": 0}),
    "every choice": policy(
        mode="Automate", memory={"preallocated": "IgnoreAndShrink"},
        update={"replacement": "Evict", "allowNodeScaleUp": "Allow"},
        healing={"memory": {"state": "Disabled"}, "compute": {"state": "Disabled"}},
        sharing={"packing": "Spread", "memoryOveruse": "Evict", "wholePods": "Place",
                 "onCapacityLost": "Evict", "preemption": "Never"},
        defragmentation={"state": "Enabled", "movesPerHour": 1}),
    "recommendation": make("GPURecommendation", {"targetRef": TARGET}),
    "recommendation of a core kind": make("GPURecommendation", {"targetRef": {
        "group": "", "kind": "ReplicationController", "name": "a"}}),
    "checkpoint": make("GPUUsageCheckpoint", {"recommendationName": "a", "containerName": "b"}),
    "group by label": group(keyFrom="LabelValue", keyName="workflows.argoproj.io/cron-workflow"),
    "group by constant": group(keyFrom="Constant", keyName="all"),
    "group by capture": group(keyFrom="RegexCapture", rules=[
        {"topOwner": {"group": "argoproj.io", "kind": "Workflow",
                      "nameRegex": "^(.*)-[0-9]+$"}}]),
    "group of all parts": group(
        state="Disabled", weight=10, ownerSuffixRegex="-[a-z0-9]{5}$",
        defaultPolicyRef={"name": "batch"}, retentionSeconds=3600,
        rules=[{"topOwner": {"group": "argoproj.io", "kind": "Workflow"},
                "labels": [{"key": "a", "value": "b"}, {"key": "c"}],
                "annotations": [{"key": "d"}], "imageRegex": "a", "containerNameRegex": "^b$",
                "excludeLabels": [{"key": "e", "value": "f"}]}]),
}


@pytest.mark.parametrize("obj", GOOD.values(), ids=GOOD.keys())
def test_good_objects_are_accepted_as_written(admin, obj):
    stored = send(admin, obj, fieldValidation="Strict")
    assert holds(stored["spec"], obj["spec"])


def holds(stored, written):
    """Whether everything that was written is still there."""
    if isinstance(written, dict):
        return all(key in stored and holds(stored[key], value) for key, value in written.items())
    if isinstance(written, list):
        return len(stored) == len(written) and all(map(holds, stored, written))
    return stored == written


QUANTITY = "this is not a quantity of memory: write for example 512Mi or 8Gi"
MIB = "GPU memory is counted in MiB: write a quantity between 1Mi and 16Ti, for example 8Gi"
START = 'start is a time of day with two digits each, 00:00 to 23:59: write for example "08:30"'
END = 'end is a time of day with two digits each, 00:00 to 24:00: write for example "04:00"'
AWAY = ("update.maxUnavailable is a number from 1 up or a percentage from 1% to 100%: to replace "
        "no pod at all, write strategy: OnCreate or Never in update.byKind")
VALUES = ("operators In and NotIn need a list of values, Exists and DoesNotExist take none: add or "
          "delete values")
NO_KEY = ("no label can have this key, so nothing would ever match: write letters, digits, dots, "
          "dashes and underscores, with a prefix and a slash before it at most")
NO_VALUE = ("no label can have this value, so nothing would ever match: write at most 63 letters, "
            "digits, dots, dashes and underscores")
ERE = ("this is not a POSIX extended regular expression: write [0-9] for \\d and plain parentheses "
       "for (?...)")
KEY_NAME = ("keyName names the label (keyFrom: LabelValue), the annotation (AnnotationValue) or "
            "the key itself (Constant): write it for these three and delete it for OwnerName and "
            "RegexCapture")
STEP = ("compute.stepPercent must divide 100, so that whole GPUs can be filled: write 1, 2, 4, 5, "
        "10, 20, 25, 50 or 100")

# What is wrong -> (object, field, sentence): the whole of what is said of the field.
BAD = {
    "no spec": ({"apiVersion": VERSION, "kind": "GPUPolicy", "metadata": {"name": "a"}},
                "spec", "Required value"),
    "no selector": (
        make("GPUPolicy", {}), "spec", "selector is required unless isDefault is Fallback: write "
        "spec.selector with at least one of namespaceSelector, podSelector, ownerKinds or "
        "workloadTypes"),
    "empty selector": (
        policy(selector={}), "spec.selector", "an empty selector names no pod: write at least one "
        "of namespaceSelector, podSelector, ownerKinds or workloadTypes (podSelector: {} means "
        "every pod)"),
    "a built-in's name": (
        policy("builtin-batch"), "", "names that begin with builtin- belong to the policies "
        "compiled into Aliquot: choose another metadata.name"),
    "mode": (policy(mode="Auto"), "spec.mode",
             'Unsupported value: "Auto": supported values: "Recommend", "Automate", "Disabled"'),
    "priority": (policy(priority=10001), "spec.priority",
                 "should be less than or equal to 10000"),
    "minPercent above maxPercent": (
        policy(compute={"minPercent": 60, "maxPercent": 50}), "spec.compute", "compute.minPercent "
        "is above compute.maxPercent: lower minPercent or raise maxPercent"),
    "minPercent in quotes": (policy(compute={"minPercent": "0.5"}), "spec.compute.minPercent",
                             "must be of type integer: \"string\""),
    "minPercent a float": (policy(compute={"minPercent": 12.5}), "spec.compute.minPercent",
                           "must be of type int32: \"float64\""),
    "minPercent 0": (policy(compute={"minPercent": 0}), "spec.compute.minPercent",
                     "should be greater than or equal to 1"),
    "percentile": (policy(compute={"percentile": 49}), "spec.compute.percentile",
                   "should be greater than or equal to 50"),
    "step 0": (policy(compute={"stepPercent": 0}), "spec.compute.stepPercent",
               "should be greater than or equal to 1"),
    "step 30": (policy(compute={"stepPercent": 30}), "spec.compute", STEP),
    "memory a number": (policy(memory={"min": 8}), "spec.memory.min",
                        "must be of type string: \"integer\""),
    "memory with a blank": (policy(memory={"min": "8 Gi"}), "spec.memory.min", QUANTITY),
    "memory in GB": (policy(memory={"max": "8GB"}), "spec.memory.max", QUANTITY),
    "memory empty": (policy(memory={"max": ""}), "spec.memory.max", QUANTITY),
    "memory in bytes of a byte": (policy(memory={"min": "8m"}), "spec.memory.min", MIB),
    "memory without unit": (policy(memory={"step": "80"}), "spec.memory.step", MIB),
    "memory negative": (policy(memory={"step": "-8Gi"}), "spec.memory.step", MIB),
    "memory of 20 TiB": (policy(memory={"max": "20Ti"}), "spec.memory.max", MIB),
    "memory step 0": (policy(memory={"step": "0"}), "spec.memory.step", MIB),
    "memory max below min": (
        policy(memory={"min": "8Gi", "max": "4Gi"}), "spec.memory", "memory.max is below "
        "memory.min (1Gi where it is not written): raise max or write a smaller min"),
    "memory max below the default min": (
        policy(memory={"max": "512Mi"}), "spec.memory", "memory.max is below memory.min (1Gi where "
        "it is not written): raise max or write a smaller min"),
    "required longer than the window": (
        policy(history={"windowSeconds": 43200, "requiredSeconds": 86400}), "spec.history",
        "history.requiredSeconds is longer than history.windowSeconds, so there would never be "
        "enough history: lower requiredSeconds or raise windowSeconds"),
    "a window of 31 days": (policy(history={"windowSeconds": 2678400}),
                            "spec.history.windowSeconds",
                            "should be less than or equal to 2592000"),
    "a group with its version": (
        policy(selector={"ownerKinds": [{"group": "apps/v1", "kind": "Deployment"}]}),
        "spec.selector.ownerKinds[0]", "write the group without its version: apps, not apps/v1"),
    "a Deployment of the core": (
        policy(selector={"ownerKinds": [{"group": "", "kind": "Deployment"}]}),
        "spec.selector.ownerKinds[0]", "this kind is not in the core group: write group: apps for "
        "Deployment, StatefulSet, DaemonSet and ReplicaSet, group: batch for Job and CronJob"),
    "a kind without group": (policy(selector={"ownerKinds": [{"kind": "Deployment"}]}),
                             "spec.selector.ownerKinds[0].group", "Required value"),
    "no kinds": (policy(selector={"ownerKinds": []}), "spec.selector.ownerKinds",
                 "should have at least 1 items"),
    "a kind twice": (policy(selector={"ownerKinds": [{"group": "apps", "kind": "Deployment"}] * 2}),
                     "spec.selector.ownerKinds[1]",
                     'Duplicate value: {"group":"apps","kind":"Deployment"}'),
    "In without values": (
        policy(selector={"podSelector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}),
        "spec.selector.podSelector.matchExpressions[0]", VALUES),
    "Exists with values": (
        policy(selector={"namespaceSelector": {"matchExpressions": [
            {"key": "a", "operator": "Exists", "values": ["b"]}]}}),
        "spec.selector.namespaceSelector.matchExpressions[0]", VALUES),
    "a key that no label has": (
        policy(selector={"podSelector": {"matchLabels": {"a": "b", "my team": "ml"}}}),
        "spec.selector.podSelector.matchLabels", NO_KEY),
    "a value that no label has": (
        policy(selector={"namespaceSelector": {"matchLabels": {"team": "ml team"}}}),
        "spec.selector.namespaceSelector.matchLabels[team]", NO_VALUE),
    "a key of an expression that no label has": (
        policy(selector={"namespaceSelector": {"matchExpressions": [
            {"key": "a/b/c", "operator": "Exists"}]}}),
        "spec.selector.namespaceSelector.matchExpressions[0].key", NO_KEY),
    "a value of an expression that no label has": (
        policy(selector={"podSelector": {"matchExpressions": [
            {"key": "a", "operator": "NotIn", "values": ["", "-b"]}]}}),
        "spec.selector.podSelector.matchExpressions[0].values[1]", NO_VALUE),
    "an unknown operator": (
        policy(selector={"podSelector": {"matchExpressions": [{"key": "a", "operator": "Gt"}]}}),
        "spec.selector.podSelector.matchExpressions[0].operator",
        'Unsupported value: "Gt": supported values: "In", "NotIn", "Exists", "DoesNotExist"'),
    "nobody away": (policy(update={"maxUnavailable": 0}), "spec.update.maxUnavailable", AWAY),
    "0 % away": (policy(update={"maxUnavailable": "0%"}), "spec.update.maxUnavailable", AWAY),
    "a number in quotes away": (policy(update={"maxUnavailable": "2"}),
                                "spec.update.maxUnavailable", AWAY),
    "no replicas": (policy(update={"minReplicas": 0}), "spec.update.minReplicas",
                    "should be greater than or equal to 1"),
    "strategy": (policy(update={"byKind": [{"kind": "Deployment", "strategy": "Always"}]}),
                 "spec.update.byKind[0].strategy",
                 'Unsupported value: "Always": supported values: "Ongoing", "OnCreate", "Never"'),
    "strategy twice": (policy(update={"byKind": [{"kind": "Job", "strategy": "Never"}] * 2}),
                       "spec.update.byKind[1]", 'Duplicate value: {"kind":"Job"}'),
    "start at 24:00": (policy(update={"windows": [window(start="24:00")]}),
                       "spec.update.windows[0].start", START),
    "start of one digit": (policy(update={"windows": [window(start="8:30")]}),
                           "spec.update.windows[0].start", START),
    "end in words": (policy(update={"windows": [window(end="noon")]}),
                     "spec.update.windows[0].end",
                     END),
    "end past midnight": (policy(update={"windows": [window(end="24:01")]}),
                          "spec.update.windows[0].end", END),
    "an empty window": (
        policy(update={"windows": [window(start="00:00", end="00:00")]}), "spec.update.windows[0]",
        'a window that ends when it starts is empty: write end: "24:00" with start: "00:00" for a '
        'whole day'),
    "no days": (policy(update={"windows": [window(days=[])]}), "spec.update.windows[0].days",
                "should have at least 1 items"),
    "a day in full": (policy(update={"windows": [window(days=["Monday"])]}),
                      "spec.update.windows[0].days[0]", 'Unsupported value: "Monday"'),
    "a day twice": (policy(update={"windows": [window(days=["Mon", "Mon"])]}),
                    "spec.update.windows[0].days[1]", 'Duplicate value: "Mon"'),
    "a zone in words": (
        policy(update={"windows": [window(timeZone="Berlin time")]}),
        "spec.update.windows[0].timeZone", "timeZone is a name of the IANA time zone database: "
        "write for example Europe/Berlin or UTC"),
    "no tenants": (policy(sharing={"maxTenants": 0}), "spec.sharing.maxTenants",
                   "should be greater than or equal to 1"),
    "65 tenants": (policy(sharing={"maxTenants": 65}), "spec.sharing.maxTenants",
                   "should be less than or equal to 64"),
    "isolation": (policy(sharing={"isolation": "TimeSlice"}), "spec.sharing.isolation",
                  'Unsupported value: "TimeSlice": supported values: "None", "MPS"'),
    "no moves": (policy(defragmentation={"movesPerHour": 0}), "spec.defragmentation.movesPerHour",
                 "should be greater than or equal to 1"),
    "recommendation for nothing": (make("GPURecommendation", {}), "spec.targetRef",
                                   "Required value"),
    "recommendation with a version": (
        make("GPURecommendation", {"targetRef": dict(TARGET, group="apps/v1")}), "spec.targetRef",
        "write the group without its version: apps, not apps/v1"),
    "checkpoint of nothing": (make("GPUUsageCheckpoint", {"containerName": "a"}),
                              "spec.recommendationName", "Required value"),
    "group without rules": (group(rules=[]), "spec.rules", "should have at least 1 items"),
    "a rule of a container's name alone": (
        group(rules=[{"containerNameRegex": "main"}]), "spec.rules[0]", "a rule needs at least one "
        "of topOwner, labels, annotations or imageRegex; containerNameRegex and excludeLabels only "
        "narrow it"),
    "a rule of nothing": (
        group(rules=[{"imageRegex": "a"}, {}]), "spec.rules[1]", "a rule needs at least one of "
        "topOwner, labels, annotations or imageRegex; containerNameRegex and excludeLabels only "
        "narrow it"),
    "a Perl class": (group(rules=[{"imageRegex": "v\\d+"}]), "spec.rules[0].imageRegex", ERE),
    "a Perl group": (group(ownerSuffixRegex="(?:-x)$"), "spec.ownerSuffixRegex", ERE),
    "a long expression": (group(rules=[{"imageRegex": "a" * 257}]), "spec.rules[0].imageRegex",
                          "may not be more than 256 bytes"),
    "LabelValue without keyName": (group(keyFrom="LabelValue"), "spec", KEY_NAME),
    "OwnerName with keyName": (group(keyName="a"), "spec", KEY_NAME),
    "Constant with an empty keyName": (group(keyFrom="Constant", keyName=""), "spec", KEY_NAME),
    "RegexCapture without parentheses": (
        group(keyFrom="RegexCapture"), "spec", "keyFrom: RegexCapture takes the key from the first "
        "parentheses of topOwner.nameRegex: write topOwner.nameRegex with parentheses in every "
        "rule"),
    "a suffix of a label": (
        group(keyFrom="LabelValue", keyName="a", ownerSuffixRegex="-x$"), "spec",
        "ownerSuffixRegex strips a generated end from the owner's name, which only keyFrom: "
        "OwnerName uses: delete ownerSuffixRegex or write keyFrom: OwnerName"),
    "a dot in a group's name": (
        group("a.b"), "", "workloads are named after the group as NAME.KEY: choose a metadata.name "
        "of at most 63 characters without a dot"),
    "an owner with its version": (
        group(rules=[{"topOwner": {"group": "argoproj.io/v1alpha1", "kind": "Workflow"}}]),
        "spec.rules[0].topOwner",
        "write the group without its version: argoproj.io, not argoproj.io/v1alpha1"),
    "short retention": (group(retentionSeconds=1), "spec.retentionSeconds",
                        "should be greater than or equal to 3600"),
}


@pytest.mark.parametrize("obj, field, sentence", BAD.values(), ids=BAD.keys())
def test_bad_objects_are_refused_with_a_sentence(admin, obj, field, sentence):
    error = refusal(send, admin, obj)
    assert error.status == 422
    causes = error.body["details"]["causes"]
    said = [cause["message"] for cause in causes if cause.get("field", "") == (field or "<nil>")]
    assert len(said) == 1, causes
    assert said[0].endswith(sentence) or said[0].startswith(sentence), said[0]
    assert sentence in error.message
    others = [cause for cause in causes if cause.get("field", "") != (field or "<nil>")]
    # What else the server says is only that it looked no further.
    assert all("were not checked" in cause["message"] or "Checked value" in cause["message"]
               for cause in others), others


def test_a_misspelt_field_is_named(admin):
    error = refusal(send, admin, policy(sharing={"maxTenant": 3}), fieldValidation="Strict")
    assert 'unknown field "spec.sharing.maxTenant"' in error.message
