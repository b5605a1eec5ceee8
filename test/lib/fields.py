"""The field tables of docs/policies.md, from the schemas in crds/.

`python3 test/lib/fields.py` writes them anew between the marks in the document; the API suite fails
where they are not what the schemas say.
"""

import json
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import manifests  # noqa: E402

DOCUMENT = os.path.join(manifests.TREE, "docs", "policies.md")
MARK = re.compile(r"(<!-- fields of (\w+) (\w+) -->\n).*?(<!-- end -->\n)", re.S)


def schema_of(kind):
    """The schema of a kind's one version."""
    for obj in manifests.render():
        if obj["kind"] == "CustomResourceDefinition" and obj["spec"]["names"]["kind"] == kind:
            version, = obj["spec"]["versions"]
            return version["schema"]["openAPIV3Schema"]
    raise manifests.ManifestError("crds/ has no kind " + kind)


def table(kind, part):
    """The fields under spec or status as a table in Markdown."""
    rows = ["| field | values | default | what it is |", "|---|---|---|---|"]
    _rows(schema_of(kind)["properties"][part], "", rows)
    return "\n".join(rows) + "\n"


def _rows(schema, prefix, rows):
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        path = prefix + name
        items = field.get("items", {})
        if name == "conditions":
            rows.append("| `conditions` | | | %s |" % field["description"])
            continue
        default = "required" if name in required else _default(field)
        rows.append("| `%s` | %s | %s | %s |" % (
            path, _values(field), default, field.get("description", "")))
        if items.get("type") == "object":
            _rows(items, path + "[].", rows)
        elif field.get("x-kubernetes-map-type") == "atomic":
            continue  # A label selector, as everywhere in Kubernetes.
        elif field.get("type") == "object":
            _rows(field, path + ".", rows)


def _default(field):
    if "default" not in field or field["default"] == {}:
        return ""
    value = field["default"]
    return "`%s`" % (value if isinstance(value, str) else json.dumps(value))


def _values(field):
    if field.get("x-kubernetes-int-or-string"):
        return "number or percentage"
    if "enum" in field:
        return ", ".join("`%s`" % value for value in field["enum"])
    if field["type"] == "array":
        inner = field["items"]
        return "list of " + (_values(inner) if "enum" in inner else inner["type"] + "s")
    if field.get("x-kubernetes-map-type") == "atomic":
        return "label selector"
    if field["type"] == "integer" and "maximum" in field:
        return "%d to %d" % (field["minimum"], field["maximum"])
    if field["type"] == "integer":
        return "number"
    if field["type"] == "object":
        return ""
    if field.get("format") == "date-time":
        return "time"
    if any("isQuantity" in rule["rule"] for rule in field.get("x-kubernetes-validations", [])):
        return "quantity"
    return "text"


def filled(text):
    """The document with every table as the schemas have it now."""
    return MARK.sub(
        lambda match: match[1] + "\n" + table(match[2], match[3]) + "\n" + match[4], text)


if __name__ == "__main__":
    with open(DOCUMENT, encoding="utf-8") as file:
        before = file.read()
    with open(DOCUMENT, "w", encoding="utf-8") as file:
        file.write(filled(before))
