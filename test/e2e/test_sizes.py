"""GPUs of several sizes in one cluster (case 23): 24, 80 and 141 GiB. A share is one of the GPU that it is on, in memory as in
compute, and no GPU gives more than it has (I1)."""

import random

import pytest

from helpers import capacity_on, environment, note, on, placed
from invariants import Picture, identity
from waiting import wait_until

SIZES = {"small": 24576, "middle": 81559, "large": 143771}
RESERVED_MIB = 559
GPUS = 2
STACK = {"nodes": [("%s-%d" % (size, i), GPUS, {"memory_mib": mib}) for size, mib in SIZES.items() for i in range(2)],
         "arguments": ["--idle-grace-seconds=2"]}
FIRST = "%s-0"


def usable(where):
    return SIZES[where.split("-")[0]] - RESERVED_MIB


@pytest.mark.parametrize("size", SIZES)
def test_i1_four_quarters_are_of_the_gpu_that_they_are_on(stack, name, size):
    where, names = FIRST % size, [name() for _ in range(4 * GPUS)]
    quarter = usable(where) * 250 // 1000
    for each in names:
        stack.create_pod(each, fraction="0.25", **on(where))
    for each in names:
        pod = stack.wait_running(each, 60)
        assert (note(pod, "compute-milli"), note(pod, "memory-mib")) == ("250", str(quarter))
        assert environment(stack, pod)["ALIQUOT_MEMORY_MIB"] == str(quarter)
    picture = Picture(stack.api).check()
    held = capacity_on(stack, where)
    assert [identity(pod)["memory"] for pod in held] == [usable(where)] * GPUS
    assert [picture.usable_mib(pod) for pod in held] == [usable(where)] * GPUS
    for each in names:
        stack.api.delete("pods", each, "default", grace=1)


def test_k23_memory_goes_where_it_fits_and_nowhere_else(stack, name):
    """What is asked for in memory is another part of each size. Two of 13000 MiB are more than the small one has."""
    cases = [("13000Mi", SIZES), ("30000Mi", ("middle", "large")), ("100000Mi", ("large",))]
    made = {}
    for memory, sizes in cases:
        for _ in range(2):
            made[name()] = memory, sizes
            stack.create_pod(list(made)[-1], memory=memory)
    never = name()
    stack.create_pod(never, memory="150000Mi")
    for each, (memory, sizes) in made.items():
        pod = stack.wait_running(each, 60)
        where = pod["spec"]["nodeName"]
        assert where.split("-")[0] in sizes, (each, memory, where)
        mib = int(memory[:-2])
        assert note(pod, "memory-mib") == str(mib)
        # As much of its compute as of its memory, in whole thousandths.
        assert int(note(pod, "compute-milli")) == mib * 1000 // usable(where), (memory, where)
    waits = stack.wait_pod(never, lambda p: placed(p).get("status") == "False", 60, what="a reason")
    assert note(waits, "gpu-uuid") is None and placed(waits)["reason"] == "LargerThanAnyGpu", placed(waits)
    Picture(stack.api).check()
    for each in [never, *made]:
        stack.api.delete("pods", each, "default", grace=1)


def test_i1_a_crowd_on_all_of_them(stack, name):
    """More than fits anywhere, drawn by one seed: at no moment has a GPU given more than its own size."""
    dice = random.Random(23)
    names = [name() for _ in range(48)]
    for each in names:
        asks = {"fraction": dice.choice(["0.2", "0.25", "0.5"])} if dice.random() < 0.5 else {
            "memory": "%dMi" % dice.choice([4000, 11000, 20000, 45000, 70000])}
        stack.create_pod(each, **asks)

    def full():
        picture = Picture(stack.api).check()
        waits = [p for p in picture.tenants if not note(p, "gpu-uuid")]
        told = all(placed(p).get("status") == "False" for p in waits)
        return told and len(picture.tenants) == len(names) and picture
    picture = wait_until(full, 60, "everybody to be placed or told why not")
    sizes = {pod["spec"]["nodeName"].split("-")[0] for pod in picture.capacity.values()}
    assert sizes == set(SIZES) and len(picture.placed) >= 20
    for each in names:
        stack.api.delete("pods", each, "default", grace=1)
    wait_until(lambda: not stack.capacity_pods(), 60, "all capacity pods to leave")
