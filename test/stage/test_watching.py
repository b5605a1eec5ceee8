"""What the end-to-end suites say of every moment: a state that lasts for a millisecond is seen."""

from watching import PodWatch


def pod(name, step="0"):
    return {"metadata": {"name": name, "labels": {"app": "watched", "step": step}},
            "spec": {"automountServiceAccountToken": False, "nodeSelector": {"nobody": "here"},
                     "containers": [{"name": "main", "image": "none"}]}}


def test_every_state_is_looked_at(api):
    seen = []

    def look(pods):
        seen.append({p["metadata"]["name"]: p["metadata"]["labels"]["step"] for p in pods})
    api.create("pods", pod("watched-old"), "default")
    api.create("pods", dict(pod("other"), metadata={"name": "other"}), "default")
    with PodWatch(api, "default", "app=watched", look):
        assert seen[0] == {"watched-old": "0"}
        api.create("pods", pod("watched-new"), "default")
        for step in range(1, 20):
            api.patch("pods", "watched-new", {"metadata": {"labels": {"step": str(step)}}}, "default")
        for name in ("watched-old", "watched-new"):
            api.delete("pods", name, "default", grace=0)
    steps = [state["watched-new"] for state in seen if "watched-new" in state]
    assert list(dict.fromkeys(steps)) == [str(step) for step in range(20)]
    assert seen[-1] == {} and {"watched-new": "19"} in seen
    api.delete("pods", "other", "default", grace=0)


def test_it_is_over_when_it_ends(api):
    seen = []
    with PodWatch(api, "default", "app=watched", seen.append):
        pass
    looked = len(seen)
    api.create("pods", pod("watched-late"), "default")
    with PodWatch(api, "default", "app=watched", lambda pods: None):
        assert len(seen) == looked
    api.delete("pods", "watched-late", "default", grace=0)
