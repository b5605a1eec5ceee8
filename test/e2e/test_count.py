"""gpu-count: the same share on each of several GPUs of one node, or nothing."""

from asking import told
from helpers import capacity_on, freed, note, on, seen
from invariants import ledger
from waiting import wait_until, within


def several(stack, name, count, node, fraction="0.5", **options):
    return stack.create_pod(name, fraction=fraction, gpus=count, **options, **on(node))


def shares(stack, node):
    """{uid: on how many GPUs of the node it stands in the books}"""
    found = {}
    for pod in capacity_on(stack, node):
        for uid in ledger(pod):
            found[uid] = found.get(uid, 0) + 1
    return found


def test_k21_three_halves_then_three_singles_fill_three_gpus(stack, node, name):
    """Its container sees all three, in an order that does not change."""
    where = node(8)
    group, *singles = (name() for _ in range(4))
    made = several(stack, group, 3, where)
    assert note(made, "gpu-count") == "3"
    pod = stack.wait_running(group)
    mine = note(pod, "gpu-uuid").split(",")
    assert len(set(mine)) == 3 and mine == sorted(mine) and sorted(seen(stack, pod)) == mine
    assert note(pod, "visible-devices") == note(pod, "gpu-uuid")
    assert shares(stack, where) == {pod["metadata"]["uid"]: 3}
    for single in singles:
        stack.create_pod(single, fraction="0.5", **on(where))
    others = {note(stack.wait_running(single), "gpu-uuid") for single in singles}
    assert others == set(mine) and len(capacity_on(stack, where)) == 3


def test_k20_all_or_nothing_and_k18_all_come_back(stack, node, name):
    """One of two GPUs has room: nothing is held. A group that is over frees both at once."""
    where = node(2)
    single, third, *groups = (name() for _ in range(3))
    several(stack, groups[0], 2, where, restartPolicy="Never")
    stack.wait_running(groups[0])

    def next_one():
        groups.append(name())
        several(stack, groups[-1], 2, where, fraction="0.6", restartPolicy="Never")
        took = freed(stack, *groups[-2:])
        stack.wait_running(groups[-1], 60)
        return took
    within(2, next_one)
    second = groups[-1]
    pod = stack.get_pod(second)
    assert shares(stack, where) == {pod["metadata"]["uid"]: 2}
    assert {stack.get_pod(each)["status"]["phase"] for each in groups[:-1]} == {"Succeeded"}
    stack.create_pod(single, fraction="0.4", **on(where))
    stack.wait_running(single)
    waits = several(stack, third, 2, where, fraction="0.4")
    held = stack.wait_pod(third, lambda p: told(p, "ShortGpus"), 60)
    assert told(held, "ShortGpus").split(";")[0] == (
        "short of GPUs: needs 0.40 GPU on each of 2 of one node, %s has room on 1" % where)
    # What the other one lacks is said of it, and no more (C23).
    assert "; 1 GPU lacks compute" in told(held, "ShortGpus"), told(held, "ShortGpus")
    assert waits["metadata"]["uid"] not in shares(stack, where)
    stack.api.delete("pods", second, "default", grace=1)
    stack.wait_running(third)
    wait_until(lambda: shares(stack, where).get(waits["metadata"]["uid"]) == 2, 60, "both entries")
    assert len(note(pod, "gpu-uuid").split(",")) == 2
