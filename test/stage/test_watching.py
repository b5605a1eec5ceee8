"""What the end-to-end suites say of every moment: a state that lasts for a millisecond is seen."""

import threading

import watching
from waiting import wait_until
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


def test_no_state_is_missed_between_two_watches(api, monkeypatch):
    """The server ends each watch after some time; the next one goes on where it ended."""
    monkeypatch.setattr(watching, "WATCH_S", 1)
    watch, list_raw, watches, seen, steps = api.watch, api.list_raw, [], [], []
    monkeypatch.setattr(api, "watch", lambda *args, **params: watches.append(args) or watch(*args, **params))

    def late(*args, **params):
        """Whoever lists in between comes after two states more."""
        before = len(steps)
        if watches and threading.current_thread() is not threading.main_thread():
            wait_until(lambda: len(steps) > before + 1, 60, "two steps")
        return list_raw(*args, **params)
    monkeypatch.setattr(api, "list_raw", late)

    def step():
        steps.append(str(len(steps) + 1))
        api.patch("pods", "watched-long", {"metadata": {"labels": {"step": steps[-1]}}}, "default")
        return len(watches) > 3
    with PodWatch(api, "default", "app=watched", lambda pods: seen.extend(p["metadata"]["labels"]["step"] for p in pods)):
        api.create("pods", pod("watched-long"), "default")
        wait_until(step, 60, "three watches to end", every=0)
        api.delete("pods", "watched-long", "default", grace=0)
    assert list(dict.fromkeys(seen)) == ["0", *steps]
