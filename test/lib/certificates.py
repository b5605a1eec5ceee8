"""What of certificates lies in Secrets and requests."""

import base64


def decoded(text):
    return base64.b64decode(text).decode()


def secret(stack, name, namespace="aliquot-system"):
    """{key: PEM} of what is there."""
    data = (stack.api.find("secrets", name, namespace) or {}).get("data") or {}
    return {key: decoded(value) for key, value in data.items() if value}
