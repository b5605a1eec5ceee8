"""Renders manifests/ and installs it, without kubectl.

Of kustomize only `resources` and `images` are understood, and of a component resources and JSON patches of one object;
anything else in a kustomization.yaml is an error, so that what is rendered here is what `kubectl apply -k manifests/` would send. Objects
are plain dicts, in the order in which they can be applied: namespaces, then kinds, then the rest.
"""

import copy
import functools
import io
import os

import yaml

from api import ApiError
from waiting import wait_until

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MANIFESTS = os.path.join(TREE, "manifests")
API_VERSION = "kustomize.config.k8s.io/v1beta1"
KNOWN = {"apiVersion", "kind", "resources", "images"}
COMPONENT = {"apiVersion", "kind", "resources", "patches"}
KNOWN_IMAGE = {"name", "newName", "newTag"}
FIRST = ("Namespace", "CustomResourceDefinition")
# What tests run themselves, outside of the cluster or as they please.
WORKLOADS = ("Deployment", "DaemonSet")


class ManifestError(ValueError):
    """The manifests say something that cannot be rendered; the message names the file."""


class _Loader(yaml.SafeLoader):
    """YAML as kubectl reads it: a key that stands twice in a mapping is an error."""


def _mapping(loader, node):
    seen = set()
    for key, _ in node.value:
        if key.value in seen:
            raise ManifestError("%s: %s stands there twice" % (key.start_mark, key.value))
        seen.add(key.value)
    return yaml.SafeLoader.construct_mapping(loader, node, deep=True)


_Loader.add_constructor(yaml.resolver.BaseResolver.DEFAULT_MAPPING_TAG, _mapping)


def load(path):
    """The documents of a YAML file."""
    with open(path, encoding="utf-8") as file:
        return copy.deepcopy(_parsed(path, file.read()))


@functools.lru_cache(maxsize=256)
def _parsed(path, text):
    """A suite renders the same files for each of its stacks, and reading YAML is slow."""
    stream = io.StringIO(text)
    # So that what is wrong is told with its file.
    stream.name = path
    return [doc for doc in yaml.load_all(stream, Loader=_Loader) if doc is not None]


def key_of(obj):
    """What tells one object from another: kind, namespace and name."""
    meta = obj["metadata"]
    return obj["kind"], meta.get("namespace", ""), meta["name"]


def render(folder=MANIFESTS, image=None):
    """The objects of a kustomization; IMAGE replaces the image aliquot after everything else."""
    objects = _kustomization(folder)
    if image:
        for obj in objects:
            _set_image(obj, "aliquot", image)
    keys = [key_of(obj) for obj in objects]
    twice = {key for key in keys if keys.count(key) > 1}
    if twice:
        raise ManifestError("%s: there twice: %s" % (folder, sorted(twice)))
    return _ordered(objects)


def _ordered(objects):
    return sorted(objects, key=lambda obj: FIRST.index(obj["kind"]) if obj["kind"] in FIRST
                  else len(FIRST))


def _kustomization(folder):
    path = os.path.join(folder, "kustomization.yaml")
    documents = load(path)
    if len(documents) != 1 or documents[0].get("apiVersion") != API_VERSION \
            or documents[0].get("kind") != "Kustomization":
        raise ManifestError("%s: not one Kustomization of %s" % (path, API_VERSION))
    wanted = documents[0]
    unknown = set(wanted) - KNOWN
    if unknown:
        raise ManifestError("%s: only %s are rendered here, not %s" % (
            path, ", ".join(sorted(KNOWN)), ", ".join(sorted(unknown))))
    objects = []
    for name in wanted.get("resources", []):
        where = os.path.join(folder, name)
        objects += _kustomization(where) if os.path.isdir(where) else load(where)
    for entry in wanted.get("images", []):
        if set(entry) - KNOWN_IMAGE:
            raise ManifestError("%s: images: only %s are rendered here" % (
                path, ", ".join(sorted(KNOWN_IMAGE))))
        text = entry.get("newName", entry["name"])
        if "newTag" in entry:
            text += ":" + entry["newTag"]
        for obj in objects:
            _set_image(obj, entry["name"], text)
    return objects


def with_component(objects, name):
    """OBJECTS as they are with the component manifests/overlays/NAME in somebody's overlay."""
    folder = os.path.join(MANIFESTS, "overlays", name)
    component, = load(os.path.join(folder, "kustomization.yaml"))
    if component["kind"] != "Component" or not {"apiVersion", "kind", "patches"} <= set(component) <= COMPONENT:
        raise ManifestError("%s: not a component that only adds and patches" % folder)
    objects = copy.deepcopy(objects)
    for resource in component.get("resources", []):
        objects += load(os.path.join(folder, resource))
    for patch in component["patches"]:
        target = patch["target"]
        obj, = [obj for obj in objects if (obj["kind"], obj["metadata"]["name"]) == (target["kind"], target["name"]) and
                target.get("namespace") in (None, obj["metadata"].get("namespace"))]
        for operation in load(os.path.join(folder, patch["path"]))[0]:
            _change(obj, operation)
    return _ordered(objects)


def _change(obj, operation):
    """One operation of a JSON patch."""
    *way, last = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
    for part in way:
        obj = obj[int(part) if isinstance(obj, list) else part]
    kind, value = operation["op"], copy.deepcopy(operation.get("value"))
    if isinstance(obj, list) and last != "-":
        last = int(last)
    if kind == "test":
        if obj[last] != value:
            raise ManifestError("%s is %s, not %s" % (operation["path"], obj[last], value))
    elif kind == "remove":
        del obj[last]
    elif kind == "add" and isinstance(obj, list):
        if last != "-":
            raise ManifestError("only the end of a list is added to, not %s" % operation["path"])
        obj.append(value)
    elif kind == "add" or (kind == "replace" and (isinstance(obj, list) or last in obj)):
        obj[last] = value
    else:
        raise ManifestError("%s of %s cannot be rendered here" % (kind, operation["path"]))


def _set_image(obj, name, image):
    template = obj.get("spec", {}).get("template") if isinstance(obj.get("spec"), dict) else None
    if obj["kind"] == "Pod":
        template = obj
    for part in ("initContainers", "containers"):
        for container in ((template or {}).get("spec") or {}).get(part, []):
            if _image_name(container["image"]) == name:
                container["image"] = image


def _image_name(image):
    name = image.partition("@")[0]
    slash = name.rfind("/")
    colon = name.rfind(":")
    return name[:colon] if colon > slash else name


def with_webhook_url(objects, url):
    """The same objects, but the webhook is called at URL, for a controller outside the cluster."""
    objects = copy.deepcopy(objects)
    for obj in objects:
        if obj["kind"] == "MutatingWebhookConfiguration":
            for webhook in obj["webhooks"]:
                webhook["clientConfig"] = {"url": url}
    return objects


def install(api, objects=None, webhook_url=None, without=(), manager="aliquot-test"):
    """Applies the objects (all of manifests/ if not given) and waits until they are in force.

    WITHOUT names kinds that are left out, for example Deployment where the controller runs
    outside. Returns what the server stored, in the order of the objects.
    """
    objects = render() if objects is None else objects
    if webhook_url:
        objects = with_webhook_url(objects, webhook_url)
    stored = []
    for obj in objects:
        if obj["kind"] in without:
            continue
        stored.append(api.apply(obj, manager=manager))
        if obj["kind"] == "CustomResourceDefinition":
            _await_established(api, obj)
    if any(key_of(obj)[0] == "ValidatingAdmissionPolicyBinding" for obj in objects):
        await_policies(api)
    return stored


def _await_established(api, crd):
    """Established is not enough: for a moment the store of the new kind still answers 429."""
    spec = crd["spec"]
    resource = "%s.%s/%s" % (spec["names"]["plural"], spec["group"], spec["versions"][0]["name"])
    wait_until(lambda: api.list_raw(resource, limit=1), 60, "the kind " + spec["names"]["kind"],
               ignore=(ApiError,))


def await_policies(api):
    """Waits until both admission policies refuse what they must; they start some time after."""
    def pod(**meta):
        return {"apiVersion": "v1", "kind": "Pod", "metadata": dict(meta, name="aliquot-probe"),
                "spec": {"containers": [{"name": "probe", "image": "probe"}],
                         "automountServiceAccountToken": False}}

    def refused(obj, namespace, policy, **params):
        try:
            api.create("pods", obj, namespace, **params)
        except ApiError as error:
            # An expression that fails is refused too, but as Invalid: that is a defect of ours.
            return error.status == 403 and policy in error.message
        # Not in force yet: the pod was made, if this was not a dry run. Others may have taken it away.
        if not params:
            try:
                api.delete("pods", obj["metadata"]["name"], namespace, grace=0)
            except ApiError as error:
                if error.status != 404:
                    raise
        return False

    marked = pod(annotations={"aliquot.dev/gpu-uuid": "probe"})
    wait_until(lambda: refused(marked, "default", "aliquot-guard", dryRun="All"), 60,
               "the admission policy aliquot-guard")
    wait_until(lambda: refused(pod(), "aliquot-canary", "aliquot-canary"), 60,
               "the admission policy aliquot-canary")
