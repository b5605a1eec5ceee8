"""A container's environment and arguments, as the kubelet resolves them from the stored pod."""

import re

from api import ApiError

REFERENCE = re.compile(r"\$\$|\$\(([A-Za-z_.-][A-Za-z0-9_.-]*)\)")


class ConfigError(Exception):
    """The container cannot be created yet: CreateContainerConfigError."""


def field(pod, path, status):
    """The value of a fieldRef; what is missing is empty, as with the real kubelet."""
    keyed = re.fullmatch(r"metadata\.(annotations|labels)\['(.*)'\]", path)
    meta = pod["metadata"]
    if keyed:
        return (meta.get(keyed.group(1)) or {}).get(keyed.group(2), "")
    values = {
        "metadata.name": meta["name"], "metadata.namespace": meta["namespace"],
        "metadata.uid": meta["uid"], "spec.nodeName": pod["spec"].get("nodeName", ""),
        "spec.serviceAccountName": pod["spec"].get("serviceAccountName", ""),
        "status.podIP": status.get("podIP", ""), "status.podIPs": status.get("podIP", ""),
        "status.hostIP": status.get("hostIP", ""), "status.hostIPs": status.get("hostIP", ""),
    }
    if path not in values:
        raise ConfigError("unsupported fieldPath: %s" % path)
    return values[path]


def expand(text, env):
    """$(VAR) of what is defined, $$ for a dollar; an unknown reference stays as it is written."""
    def one(match):
        if match.group(0) == "$$":
            return "$"
        return env.get(match.group(1), match.group(0))
    return REFERENCE.sub(one, text)


def _from_object(api, namespace, kind, reference, key):
    try:
        obj = api.get(kind, reference["name"], namespace)
    except ApiError as error:
        if error.status != 404:
            raise
        if reference.get("optional"):
            return {} if key is None else None
        raise ConfigError('%s "%s" not found' % (kind[:-1], reference["name"])) from error
    data = dict(obj.get("data") or {})
    if kind == "secrets":
        import base64
        data = {name: base64.b64decode(value).decode("utf-8", "replace")
                for name, value in data.items()}
    if key is None:
        return data
    if key not in data and not reference.get("optional"):
        raise ConfigError("couldn't find key %s in %s %s" % (key, kind[:-1], reference["name"]))
    return data.get(key)


def _resource(pod, container, reference):
    name = reference.get("containerName", container["name"])
    owner = next(item for item in pod["spec"]["containers"] +
                 (pod["spec"].get("initContainers") or []) if item["name"] == name)
    side, _, resource = reference["resource"].partition(".")
    return str(((owner.get("resources") or {}).get(side) or {}).get(resource, "0"))


def _value(api, pod, container, source, status):
    namespace = pod["metadata"]["namespace"]
    if "fieldRef" in source:
        return field(pod, source["fieldRef"]["fieldPath"], status)
    if "resourceFieldRef" in source:
        return _resource(pod, container, source["resourceFieldRef"])
    for key, kind in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
        if key in source:
            return _from_object(api, namespace, kind, source[key], source[key]["key"])
    raise ConfigError("unknown source of an environment variable: %s" % ", ".join(source))


def resolve(api, pod, container, status, base):
    """The whole environment of a container: BASE, then envFrom, then env in order."""
    env = dict(base)
    namespace = pod["metadata"]["namespace"]
    for source in container.get("envFrom") or []:
        for key, kind in (("configMapRef", "configmaps"), ("secretRef", "secrets")):
            if key in source:
                data = _from_object(api, namespace, kind, source[key], None)
                prefix = source.get("prefix", "")
                env.update({prefix + name: value for name, value in data.items()})
    for item in container.get("env") or []:
        if "valueFrom" in item:
            value = _value(api, pod, container, item["valueFrom"], status)
            if value is not None:
                env[item["name"]] = value
        else:
            env[item["name"]] = expand(item.get("value", ""), env)
    return env
