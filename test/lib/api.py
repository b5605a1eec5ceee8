"""A small client for a Kubernetes API server, on the standard library alone.

Objects are plain dicts. A resource is named by its plural ("pods"), with its group where it is not
in the table below ("gpupolicies.aliquot.dev/v1alpha1", "deployments.apps/v1"). Every failure is an
ApiError that carries the Status a person would get.
"""

import base64
import collections
import http.client
import json
import re
import select
import ssl
import urllib.parse

GROUPS = {
    "v1": "bindings configmaps endpoints events limitranges namespaces nodes "
          "persistentvolumeclaims persistentvolumes pods podtemplates replicationcontrollers "
          "resourcequotas secrets serviceaccounts services",
    "apps/v1": "deployments replicasets statefulsets daemonsets controllerrevisions",
    "batch/v1": "jobs cronjobs",
    "policy/v1": "poddisruptionbudgets",
    "coordination.k8s.io/v1": "leases",
    "scheduling.k8s.io/v1": "priorityclasses",
    "autoscaling/v2": "horizontalpodautoscalers",
    "rbac.authorization.k8s.io/v1": "roles rolebindings clusterroles clusterrolebindings",
    "admissionregistration.k8s.io/v1": "mutatingwebhookconfigurations "
                                       "validatingwebhookconfigurations "
                                       "validatingadmissionpolicies "
                                       "validatingadmissionpolicybindings",
    "apiextensions.k8s.io/v1": "customresourcedefinitions",
    "networking.k8s.io/v1": "networkpolicies ingresses",
    "node.k8s.io/v1": "runtimeclasses",
    "storage.k8s.io/v1": "storageclasses csidrivers csinodes",
    "authentication.k8s.io/v1": "tokenreviews",
    "authorization.k8s.io/v1": "subjectaccessreviews selfsubjectaccessreviews",
    "certificates.k8s.io/v1": "certificatesigningrequests",
    "aliquot.dev/v1alpha1": "gpupolicies gpurecommendations gpuworkloadgroups gpuusagecheckpoints",
}
RESOURCES = {plural: group for group, plurals in GROUPS.items() for plural in plurals.split()}

PATCH_TYPES = {
    "merge": "application/merge-patch+json",
    "json": "application/json-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
BODY_LIMIT = 256 << 20
IDLE_MAX = 16


class ApiError(Exception):
    """An answer other than success. status is 0 where no answer came at all."""

    def __init__(self, status, reason, message, body=None):
        super().__init__("%s %s: %s" % (status, reason, message))
        self.status = status
        self.reason = reason
        self.message = message
        self.body = body


class Api:
    """One user's view of one API server; any thread may use it, a few connections are kept."""

    def __init__(self, url, ca=None, token=None, timeout=30.0, client_cert=None, ca_data=None):
        parts = urllib.parse.urlsplit(url)
        self.url = url
        self.token = token
        self.timeout = timeout
        self._host, self._port = parts.hostname, parts.port or 443
        self._tls = None
        if parts.scheme == "https":
            self._tls = ssl.create_default_context(cafile=ca, cadata=ca_data)
            if client_cert:
                self._tls.load_cert_chain(*client_cert)
        self._idle = collections.deque()
        self._kinds = {}

    @classmethod
    def from_kubeconfig(cls, path, timeout=30.0):
        """Reads the kubeconfigs that `hack/controlplane` writes (JSON, which is YAML too)."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        try:
            config = json.loads(text)
        except ValueError:
            import yaml  # Only a kubeconfig from elsewhere needs it.
            config = yaml.safe_load(text)
        context = next(item["context"] for item in config["contexts"]
                       if item["name"] == config["current-context"])
        cluster = next(item["cluster"] for item in config["clusters"]
                       if item["name"] == context["cluster"])
        user = next(item["user"] for item in config["users"] if item["name"] == context["user"])
        data = cluster.get("certificate-authority-data")
        return cls(cluster["server"], ca=cluster.get("certificate-authority"),
                   ca_data=base64.b64decode(data).decode() if data else None,
                   token=user.get("token"), timeout=timeout)

    # The transport.

    def _connect(self, timeout):
        if self._tls:
            return http.client.HTTPSConnection(self._host, self._port, timeout=timeout,
                                               context=self._tls)
        return http.client.HTTPConnection(self._host, self._port, timeout=timeout)

    def _headers(self, body, content_type):
        headers = {"Accept": "application/json", "User-Agent": "aliquot-test"}
        if self.token:
            headers["Authorization"] = "Bearer " + self.token
        if body is not None:
            headers["Content-Type"] = content_type
        return headers

    def raw(self, method, path, body=None, params=None, content_type="application/json",
            timeout=None):
        """One exchange; returns (status, bytes). A kept connection that went stale is replaced."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        if params:
            path += "?" + urllib.parse.urlencode(params)
        kept = self._kept()
        if kept is not None:
            try:
                return self._exchange(kept, method, path, data, content_type, timeout)
            except (http.client.RemoteDisconnected, BrokenPipeError):
                pass  # The server had closed it before it read anything: nothing was done yet.
            except (OSError, http.client.HTTPException) as error:
                raise ApiError(0, "NoAnswer", "%s %s: %s" % (method, path, error)) from error
        try:
            return self._exchange(self._connect(self.timeout), method, path, data, content_type,
                                  timeout)
        except (OSError, http.client.HTTPException) as error:
            raise ApiError(0, "NoAnswer", "%s %s: %s" % (method, path, error)) from error

    def _kept(self):
        """An idle connection; one with something to read was closed by the server meanwhile."""
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:
                return None
            if connection.sock:
                readable = select.poll()
                readable.register(connection.sock, select.POLLIN | select.POLLHUP)
                if not readable.poll(0):
                    return connection
            connection.close()
        return None

    def _exchange(self, connection, method, path, data, content_type, timeout):
        try:
            if connection.sock is not None:
                connection.sock.settimeout(timeout or self.timeout)
            connection.timeout = timeout or self.timeout
            connection.request(method, path, data, self._headers(data, content_type))
            response = connection.getresponse()
            content = response.read(BODY_LIMIT)
        except BaseException:
            connection.close()
            raise
        if response.will_close or len(self._idle) >= IDLE_MAX:
            connection.close()
        else:
            self._idle.append(connection)
        return response.status, content

    def warnings(self, method, path, body):
        """What the server says beside its answer, which must be a good one: its headers Warning."""
        connection = self._connect(self.timeout)
        try:
            data = json.dumps(body).encode()
            connection.request(method, path, data, self._headers(data, "application/json"))
            response = connection.getresponse()
            content = response.read(BODY_LIMIT)
        finally:
            connection.close()
        if not 200 <= response.status < 300:
            raise ApiError(response.status, "", content.decode("utf-8", "replace")[:2000])
        return response.headers.get_all("Warning") or []

    def request(self, method, path, body=None, params=None, content_type="application/json",
                timeout=None):
        """One exchange with JSON in the answer; anything but 2xx is an ApiError."""
        status, content = self.raw(method, path, body, params, content_type, timeout)
        try:
            value = json.loads(content) if content else {}
        except ValueError:
            value = {"message": content.decode("utf-8", "replace")[:2000]}
        if not 200 <= status < 300:
            message = value.get("message", "") if isinstance(value, dict) else ""
            reason = value.get("reason", "") if isinstance(value, dict) else ""
            raise ApiError(status, reason, message, value)
        return value

    # Addresses.

    @staticmethod
    def path(resource, name=None, namespace=None, sub=None):
        """Path of a collection or an object, for example path("pods", "a", "default", "status")."""
        plural, dot, group = resource.partition(".")
        version = group if dot else RESOURCES[plural]
        path = "/api/v1" if version == "v1" else "/apis/" + version
        if namespace:
            path += "/namespaces/" + namespace
        path += "/" + plural
        if name:
            path += "/" + urllib.parse.quote(name, safe="")
        return path + ("/" + sub if sub else "")

    def resource_of(self, obj):
        """(resource, namespaced) for an object, by asking the server what its kind is called."""
        key = (obj["apiVersion"], obj["kind"])
        if key not in self._kinds:
            version = obj["apiVersion"]
            base = "/api/v1" if version == "v1" else "/apis/" + version
            for item in self.request("GET", base)["resources"]:
                if "/" not in item["name"]:
                    name = item["name"] + ("" if version == "v1" else "." + version)
                    self._kinds[(version, item["kind"])] = (name, item["namespaced"])
        if key not in self._kinds:
            raise ApiError(404, "NotFound", "the server knows no %s of %s" % (key[1], key[0]))
        return self._kinds[key]

    def listable(self):
        """Every resource that can be listed, each once, in the version that the server prefers."""
        names = [item["name"] + ".v1" for item in self.request("GET", "/api/v1")["resources"] if "list" in item["verbs"]]
        for group in self.request("GET", "/apis")["groups"]:
            version = group["preferredVersion"]["groupVersion"]
            try:
                found = self.request("GET", "/apis/" + version)["resources"]
            except ApiError as error:
                # Of kinds that were taken away just now the server still tells for a moment.
                if error.status != 404:
                    raise
                continue
            names += ["%s.%s" % (item["name"], version) for item in found
                      if "list" in item["verbs"] and "/" not in item["name"]]
        return names

    # The verbs.

    def get(self, resource, name, namespace=None, sub=None):
        return self.request("GET", self.path(resource, name, namespace, sub))

    def find(self, resource, name, namespace=None):
        """The object, or None where there is none."""
        try:
            return self.get(resource, name, namespace)
        except ApiError as error:
            if error.status == 404:
                return None
            raise

    def columns(self, resource, name, namespace=None):
        """{column: cell} as kubectl prints them: the API server makes the table."""
        connection = self._connect(self.timeout)
        try:
            connection.request("GET", self.path(resource, name, namespace), headers=dict(
                self._headers(None, None), Accept="application/json;as=Table;v=v1;g=meta.k8s.io"))
            table = json.loads(connection.getresponse().read(BODY_LIMIT))
        finally:
            connection.close()
        row, = table["rows"]
        return {column["name"]: cell for column, cell in zip(table["columnDefinitions"], row["cells"])}

    def list_raw(self, resource, namespace=None, **params):
        """The whole list object. Parameters are the API's own: labelSelector, fieldSelector …"""
        return self.request("GET", self.path(resource, None, namespace), params=params)

    def list(self, resource, namespace=None, **params):
        return self.list_raw(resource, namespace, **params)["items"]

    def create(self, resource, obj, namespace=None, sub=None, name=None, **params):
        if namespace is None:
            namespace = obj.get("metadata", {}).get("namespace")
        return self.request("POST", self.path(resource, name, namespace, sub), obj, params)

    def replace(self, resource, obj, sub=None, **params):
        meta = obj["metadata"]
        path = self.path(resource, meta["name"], meta.get("namespace"), sub)
        return self.request("PUT", path, obj, params)

    def patch(self, resource, name, body, namespace=None, sub=None, kind="merge", **params):
        """Patches an object; kind is merge, json, strategic or apply."""
        return self.request("PATCH", self.path(resource, name, namespace, sub), body, params,
                            PATCH_TYPES[kind])

    def apply(self, obj, manager="aliquot-test", force=True, namespace=None, **params):
        """Server-side apply of any object, as `kubectl apply --server-side` would."""
        resource, namespaced = self.resource_of(obj)
        where = obj["metadata"].get("namespace", namespace or "default") if namespaced else None
        return self.patch(resource, obj["metadata"]["name"], obj, where, kind="apply",
                          fieldManager=manager, force="true" if force else "false", **params)

    def delete(self, resource, name, namespace=None, grace=None, uid=None, **options):
        body = {"apiVersion": "v1", "kind": "DeleteOptions", **options}
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        if uid:
            body["preconditions"] = {"uid": uid}
        return self.request("DELETE", self.path(resource, name, namespace), body)

    def evict(self, name, namespace, **options):
        body = {"apiVersion": "policy/v1", "kind": "Eviction",
                "metadata": {"name": name, "namespace": namespace}, **options}
        return self.create("pods", body, namespace, "eviction", name)

    def bind(self, name, namespace, node, annotations=None):
        meta = {"name": name, "namespace": namespace, "annotations": annotations or {}}
        body = {"apiVersion": "v1", "kind": "Binding", "metadata": meta,
                "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
        return self.create("pods", body, namespace, "binding", name)

    def mint_token(self, service_account, namespace, seconds=3600, pod=None):
        """A token of a service account, by TokenRequest; bound to POD, as a kubelet would ask for it."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
                "spec": {"expirationSeconds": seconds}}
        if pod:
            body["spec"]["boundObjectRef"] = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"],
                                              "uid": pod["metadata"]["uid"]}
        answer = self.create("serviceaccounts", body, namespace, "token", service_account)
        return answer["status"]["token"]

    def watch(self, resource, namespace=None, version=None, timeout=60, **params):
        """Yields (type, object) until the server ends the watch; ERROR events raise ApiError."""
        params = dict(params, watch="true", timeoutSeconds=str(int(timeout)))
        if version is not None:
            params["resourceVersion"] = version
        path = self.path(resource, None, namespace) + "?" + urllib.parse.urlencode(params)
        connection = self._connect(timeout + 30)
        try:
            connection.request("GET", path, headers=self._headers(None, None))
            response = connection.getresponse()
            if response.status != 200:
                text = response.read(1 << 20).decode("utf-8", "replace")
                raise ApiError(response.status, "WatchRefused", text)
            while True:
                line = response.readline()
                if not line:
                    return
                event = json.loads(line)
                if event["type"] == "ERROR":
                    status = event["object"]
                    raise ApiError(status.get("code", 0), status.get("reason", ""),
                                   status.get("message", ""), status)
                yield event["type"], event["object"]
        except (OSError, http.client.HTTPException) as error:
            raise ApiError(0, "NoAnswer", "watch %s: %s" % (path, error)) from error
        finally:
            connection.close()


def memory_mib(quantity):
    """Bytes-like quantity ("8Gi", "512Mi", "1000000") in whole MiB."""
    number, unit = re.fullmatch(r"(\d+)([KMGT]i|[kMGT])?", str(quantity)).groups()
    factor = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "k": 10 ** 3,
              "M": 10 ** 6, "G": 10 ** 9, "T": 10 ** 12, None: 1}[unit]
    return int(number) * factor >> 20
