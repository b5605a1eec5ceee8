"""A pod's volumes as folders, and paths rewritten to them for want of mount namespaces."""

import base64
import contextlib
import os
import re
import shutil

from api import ApiError
from kubelet_env import ConfigError, expand, field

TERMINATION_LOG = "/dev/termination-log"


class Volumes:
    """The volumes of one pod, under its folder; hostPaths lie under the node's."""

    def __init__(self, api, pod, folder, node_folder, status):
        self.api = api
        self.pod = pod
        self.folder = folder
        self.node_folder = node_folder
        self.status = status

    def prepare(self):
        """Makes every volume; ConfigError where something it is made of is missing."""
        for volume in self.pod["spec"].get("volumes") or []:
            path = self._path(volume)
            os.makedirs(path, exist_ok=True)
            try:
                self._fill(volume, path)
            except ApiError as error:
                if error.status in (403, 404):
                    raise ConfigError("MountVolume.SetUp failed for volume %s: %s" % (
                        volume["name"], error.message)) from error
                raise

    def refresh(self):
        """Secrets anew, as they are by now."""
        for volume in self.pod["spec"].get("volumes") or []:
            if "secret" in volume:
                with contextlib.suppress(ApiError, ConfigError):
                    self._fill(volume, self._path(volume))

    def tell(self, pod):
        """What the downward API says anew; the kubelet does so as long as the pod is not being ended."""
        before, self.pod = self.pod, pod
        if all(before["metadata"].get(key) == pod["metadata"].get(key) for key in ("labels", "annotations")):
            return
        for volume in pod["spec"].get("volumes") or []:
            if "downwardAPI" in volume and os.path.isdir(self._path(volume)):
                self._downward(volume["downwardAPI"], self._path(volume))

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def _path(self, volume):
        if "hostPath" in volume:
            return os.path.join(self.node_folder, "host", volume["hostPath"]["path"].lstrip("/"))
        return os.path.join(self.folder, "volumes", volume["name"])

    def _fill(self, volume, path):
        if "configMap" in volume:
            self._objects("configmaps", volume["configMap"], volume["configMap"]["name"], path)
        elif "secret" in volume:
            self._objects("secrets", volume["secret"], volume["secret"]["secretName"], path)
        elif "downwardAPI" in volume:
            self._downward(volume["downwardAPI"], path)
        for source in (volume.get("projected") or {}).get("sources") or []:
            if "configMap" in source:
                self._objects("configmaps", source["configMap"], source["configMap"]["name"], path)
            elif "secret" in source:
                self._objects("secrets", source["secret"], source["secret"]["name"], path)
            elif "downwardAPI" in source:
                self._downward(source["downwardAPI"], path)
            elif "serviceAccountToken" in source:
                self._token(source["serviceAccountToken"], path)

    def _objects(self, kind, source, name, path):
        found = self.api.find(kind, name, self.pod["metadata"]["namespace"])
        if found is None:
            if source.get("optional"):
                return
            raise ConfigError('%s "%s" not found' % (kind[:-1], name))
        names = {item["key"]: item["path"] for item in source.get("items") or []}
        for key, value in (found.get("data") or {}).items():
            if names and key not in names:
                continue
            data = base64.b64decode(value) if kind == "secrets" else value.encode()
            _write(os.path.join(path, names.get(key, key)), data)

    def _downward(self, source, path):
        for item in source.get("items") or []:
            if "fieldRef" in item:
                text = field(self.pod, item["fieldRef"]["fieldPath"], self.status)
                _write(os.path.join(path, item["path"]), text.encode())

    def _token(self, source, path):
        meta = self.pod["metadata"]
        account = self.pod["spec"].get("serviceAccountName", "default")
        token = self.api.mint_token(account, meta["namespace"],
                                    source.get("expirationSeconds", 3600), pod=self.pod)
        _write(os.path.join(path, source["path"]), token.encode())

    def rewrites(self, container, env, termination_file):
        """[(path in the container, path on this machine)], the longest first."""
        volumes = {item["name"]: item for item in self.pod["spec"].get("volumes") or []}
        pairs = [(container.get("terminationMessagePath") or TERMINATION_LOG, termination_file)]
        for mount in container.get("volumeMounts") or []:
            path = self._path(volumes[mount["name"]])
            below = mount.get("subPath") or expand(mount.get("subPathExpr", ""), env)
            if os.path.isabs(below) or ".." in below.split("/"):
                raise ConfigError("subPath must not contain '..' or be absolute: %s" % below)
            if "subPathExpr" in mount and (not below or "$(" in below):
                raise ConfigError("cannot expand subPathExpr %s" % mount["subPathExpr"])
            path = os.path.join(path, below) if below else path
            if not os.path.exists(path):
                os.makedirs(path)
            pairs.append((mount["mountPath"].rstrip("/") or "/", path))
        return sorted(pairs, key=lambda pair: -len(pair[0]))


def mounts(pod, path):
    """Whether a volume of the pod is the node's folder of this path."""
    folder = "/" + os.path.dirname(path)
    return any((volume.get("hostPath") or {}).get("path") == folder for volume in pod["spec"].get("volumes") or [])


def rewrite(text, pairs):
    """TEXT with every whole path of PAIRS replaced, in one pass so that nothing is hit twice."""
    if not pairs:
        return text
    known = dict(pairs)
    names = "|".join(re.escape(path) for path, _ in pairs)
    return re.sub(r"(?<![\w./-])(%s)(?![\w.-])" % names, lambda match: known[match.group(1)], text)


def _write(path, data):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path + ".new", "wb") as file:
        file.write(data)
    os.replace(path + ".new", path)
