"""The command lines, users and files of a control plane; controlplane.py runs them."""

import dataclasses
import http.client
import json
import os
import ssl
import subprocess
import sys

import binaries

PORTS = ("etcd", "etcd-peer", "kube-apiserver", "kube-controller-manager", "kube-scheduler",
         "kubelet")
MASTERS = "system:masters"

# user of a kubeconfig and a token -> (name in the API, groups)
USERS = {
    "admin": ("admin", MASTERS),
    # Literally the manifests' service account, so that RBAC and admission policies run unmodified.
    "controller": ("system:serviceaccount:aliquot-system:aliquot-controller",
                   "system:serviceaccounts,system:serviceaccounts:aliquot-system,"
                   "system:authenticated"),
    "agent": ("system:serviceaccount:aliquot-system:aliquot-agent",
              "system:serviceaccounts,system:serviceaccounts:aliquot-system,system:authenticated"),
    "jane": ("jane", ""),
    "kubelet": ("system:fake-kubelet", MASTERS),
    "kcm": ("system:kube-controller-manager", MASTERS),
    "scheduler": ("system:kube-scheduler", ""),
}

# Whatever our service accounts write, with the names of what was written.
AUDIT = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "omitStages": ["RequestReceived"], "rules": [
    {"level": "Metadata", "verbs": ["create", "update", "patch", "delete", "deletecollection"],
     "userGroups": ["system:serviceaccounts:aliquot-system", "system:serviceaccounts:aliquot-agents"]},
    {"level": "None"}]}


@dataclasses.dataclass
class Options:
    """What a plane shall be. With nodes > 0 the fake kubelet plays them, or kwok where asked.

    With only_apiserver there are etcd and the API server and nobody else: what is written stays as
    it is. No service account is made there, so pods must do without the admission of those.
    """

    kwok: bool = False
    nodes: int = 0
    gpus: int = 0
    node_prefix: str = "node-"
    binary: str = ""
    nvml: str = ""
    scheduler_qps: int = 0
    service_accounts: bool = True
    only_apiserver: bool = False
    audited: bool = False  # what ours write stands in audit.log
    apiserver_args: tuple = ()
    kcm_args: tuple = ()
    scheduler_args: tuple = ()
    kubelet_args: tuple = ()


# A node whose Lease was not renewed for so long is Unknown (40 or 50 s in clusters).
GRACE_S = 200


def write_files(folder, state, options):
    """Token file, signing key, kubeconfigs and component configurations."""
    lines = [_token_line(state["tokens"][user], user) for user in USERS]
    _write(folder, "tokens.csv", "".join(lines))
    _write(folder, "audit.json", json.dumps(AUDIT))
    subprocess.run(["openssl", "genrsa", "-out", os.path.join(folder, "sa.key"), "2048"],
                   check=True, capture_output=True, timeout=60)
    for user in USERS:
        _write(folder, user + ".kubeconfig", json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": user,
            "clusters": [{"name": "plane", "cluster": {
                "server": state["url"], "certificate-authority": state["ca"]}}],
            "users": [{"name": user, "user": {"token": state["tokens"][user]}}],
            "contexts": [{"name": user, "context": {"cluster": "plane", "user": user}}],
        }, indent=1) + "\n")
    if options.scheduler_qps:
        _write(folder, "scheduler.json", json.dumps({
            "apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": os.path.join(folder, "scheduler.kubeconfig"),
                                 "qps": options.scheduler_qps,
                                 "burst": 2 * options.scheduler_qps}}) + "\n")


def _token_line(token, user):
    name, groups = USERS[user]
    # An empty fourth column would put the user in a group with an empty name.
    return "%s,%s,%s%s\n" % (token, name, user, ',"%s"' % groups if groups else "")


def _write(folder, name, text):
    path = os.path.join(folder, name)
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
              encoding="utf-8") as file:
        file.write(text)


def argvs(folder, state, options, paths):
    """Command of every component that the options ask for, by name."""
    port = state["ports"]
    found = {
        "etcd": _etcd(folder, port, paths),
        "kube-apiserver": _apiserver(folder, port, paths, options),
        "kube-controller-manager": [
            paths["kube-controller-manager"], "--kubeconfig=%s/kcm.kubeconfig" % folder,
            "--service-account-private-key-file=%s/sa.key" % folder,
            "--root-ca-file=" + state["ca"], "--use-service-account-credentials=false",
            "--leader-elect=false", "--kube-api-qps=200", "--kube-api-burst=400",
            "--node-monitor-grace-period=%ds" % GRACE_S,
            *_serving(folder, port["kube-controller-manager"], "kcm"), *options.kcm_args],
        "kube-scheduler": [
            paths["kube-scheduler"], *_scheduler_config(folder, options), "--leader-elect=false",
            *_serving(folder, port["kube-scheduler"], "scheduler"), *options.scheduler_args],
    }
    if options.only_apiserver:
        return {name: found[name] for name in ("etcd", "kube-apiserver")}
    if options.kwok:
        stages = os.path.join(binaries.PINS, "kwok-stages.yaml")
        found["kwok"] = [paths["kwok"], "--kubeconfig=%s/admin.kubeconfig" % folder,
                         "--config=" + stages, "--manage-all-nodes=true"]
    elif options.nodes:
        found["kubelet"] = _kubelet(folder, port, options)
    return found


def _etcd(folder, port, paths):
    client = "http://127.0.0.1:%d" % port["etcd"]
    peer = "http://127.0.0.1:%d" % port["etcd-peer"]
    return [paths["etcd"], "--data-dir=%s/etcd" % folder, "--listen-client-urls=" + client,
            "--advertise-client-urls=" + client, "--listen-peer-urls=" + peer,
            "--initial-advertise-peer-urls=" + peer, "--initial-cluster=default=" + peer,
            "--unsafe-no-fsync", "--quota-backend-bytes=%d" % (8 << 30), "--log-level=warn"]


def _apiserver(folder, port, paths, options):
    argv = [paths["kube-apiserver"], "--etcd-servers=http://127.0.0.1:%d" % port["etcd"],
            "--secure-port=%d" % port["kube-apiserver"], "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1", "--endpoint-reconciler-type=none",
            "--cert-dir=%s/apiserver" % folder,
            "--service-account-key-file=%s/sa.key" % folder,
            "--service-account-signing-key-file=%s/sa.key" % folder,
            "--service-account-issuer=https://kubernetes.default.svc",
            "--token-auth-file=%s/tokens.csv" % folder, "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true"]
    if not options.service_accounts or options.only_apiserver:
        argv.append("--disable-admission-plugins=ServiceAccount")
    if options.audited:
        argv += ["--audit-policy-file=%s/audit.json" % folder, "--audit-log-path=%s/audit.log" % folder]
    return argv + list(options.apiserver_args)


def _serving(folder, port, user):
    config = "%s/%s.kubeconfig" % (folder, user)
    return ["--secure-port=%d" % port, "--bind-address=127.0.0.1",
            "--cert-dir=%s/%s" % (folder, user),
            "--authentication-kubeconfig=" + config, "--authorization-kubeconfig=" + config,
            "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics"]


def _scheduler_config(folder, options):
    if options.scheduler_qps:
        return ["--config=%s/scheduler.json" % folder]
    return ["--kubeconfig=%s/scheduler.kubeconfig" % folder]


def _kubelet(folder, port, options):
    argv = [sys.executable, os.path.join(binaries.TREE, "test", "fake", "kubelet.py"),
            "--kubeconfig=%s/kubelet.kubeconfig" % folder, "--dir=%s/kubelet" % folder,
            "--control-port=%d" % port["kubelet"], "--nodes=%d" % options.nodes,
            "--gpus=%d" % options.gpus, "--node-prefix=" + options.node_prefix]
    if options.binary:
        argv.append("--binary=" + os.path.abspath(options.binary))
    if options.nvml:
        argv.append("--nvml=" + os.path.abspath(options.nvml))
    return argv + list(options.kubelet_args)


def probe_untrusted(port, path):
    """Status of a health endpoint whose certificate is its own; 0 where nobody answers."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=2, context=context)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()
