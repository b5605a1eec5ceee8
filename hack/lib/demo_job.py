"""The pods of hack/demo's story, as a person would write them."""

PREFIX = "aliquot.dev/"


def template(annotations, app):
    return {
        "metadata": {"labels": {"app": app}, "annotations": {
            PREFIX + key: value for key, value in annotations.items()}},
        "spec": {"terminationGracePeriodSeconds": 1, "containers": [{
            "name": "main", "image": "example.com/" + app,
            "resources": {"requests": {"cpu": "100m", "memory": "64Mi"},
                          "limits": {"nvidia.com/gpu": "1"}}}]},
    }


def pod(name, app=None, **annotations):
    """Annotations by their key without prefix, _ for -."""
    made = template({key.replace("_", "-"): value for key, value in annotations.items()}, app or name)
    made["metadata"]["name"] = name
    return {"apiVersion": "v1", "kind": "Pod", **made}


def deployment(name, replicas, **annotations):
    return {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": {"app": name}},
                 "template": template({key.replace("_", "-"): value
                                       for key, value in annotations.items()}, name)},
    }
