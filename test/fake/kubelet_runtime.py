"""What a node's container runtime gives a container that names GPUs and was allocated none.

Nodes differ in which form they honour, and may differ by the RuntimeClass of the pod. What is not honoured gives
nothing, and nobody is told. Independent of the product: the forms are those of NVIDIA's toolkit.
"""

FORMS = ("env", "cdi", "nri")
USUAL = ("env", "cdi")
CDI = "runtime.nvidia.com/gpu="
NRI_KEY = "nvidia.cdi.k8s.io/container."
NRI = "k8s.device-plugin.nvidia.com/gpu="


class Runtime:
    """One node's. HONOURED: a form, a list of them, or {name of a RuntimeClass: list}, where "*" is any other."""

    def __init__(self, honoured=None):
        self._by_class, self._besides = {}, set()
        self.set(USUAL if honoured is None else honoured)

    def set(self, honoured, besides=()):
        by_class = honoured if isinstance(honoured, dict) else {"*": honoured}
        made = {name: tuple([forms] if isinstance(forms, str) else forms) for name, forms in by_class.items()}
        unknown = [form for forms in made.values() for form in forms if form not in FORMS]
        if unknown:
            raise ValueError("%s is no form of injection: %s" % (unknown[0], ", ".join(FORMS)))
        self._by_class, self._besides = made, set(besides)

    def honoured(self, pod):
        name = pod["spec"].get("runtimeClassName") or ""
        return self._by_class.get(name, self._by_class.get("*", ()))

    def names(self, pod, container, value):
        """What a container of that name gets: UUIDs, indices or "all"."""
        forms, found = self.honoured(pod), set(self._besides)
        for entry in (value or "").split(","):
            if entry.startswith(CDI):
                found |= {entry[len(CDI):]} if "cdi" in forms else set()
            elif "env" in forms:
                found.add(entry)
        if "nri" in forms:
            noted = (pod["metadata"].get("annotations") or {}).get(NRI_KEY + container, "")
            found |= {entry.strip()[len(NRI):] for entry in noted.split(",") if entry.strip().startswith(NRI)}
        return found
