// Package dataset draws the cluster of the benches: the same one for the same seed.
//
// Pod i of a seed is always the same pod. They differ in labels, annotations, containers, env,
// requests and size, as pods of many teams do; every fifth asks for a GPU.
package dataset

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"

	core "k8s.io/api/core/v1"
	node "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Namespaces is how many namespaces the pods are spread over.
const Namespaces = 40

// GPUEvery is the distance between two pods that ask for a GPU.
const GPUEvery = 5

const (
	overheadClass = "bench-overhead"
	gpu           = core.ResourceName("nvidia.com/gpu")
	sizeLeast     = 2200
	sizeMost      = 12 << 10
	arrivingLeast = 6 << 10
	arrivingMost  = 12 << 10
	// The server writes down who owns each field, which costs this much for one variable.
	envCost = 95
)

var (
	teams = []string{"search", "ads", "speech", "vision", "rank", "fraud", "maps", "chat"}
	apps  = []string{"embedder", "indexer", "gateway", "trainer", "batcher", "api", "cache",
		"worker", "notebook", "reranker", "encoder", "proxy", "ingest", "scorer"}
	words = []string{"alpha", "delta", "canary", "stable", "nightly", "eu", "us", "batch", "online",
		"shadow", "tier", "blue", "green", "primary", "replica", "warm", "cold"}
)

// Set is a cluster of one size, drawn from one seed.
type Set struct {
	Pods, Nodes int
	Seed        uint64
}

// NamespaceName is the i-th namespace.
func NamespaceName(i int) string { return fmt.Sprintf("team-%02d", i%Namespaces) }

// NodeName is the i-th node.
func NodeName(i int) string { return fmt.Sprintf("node-%04d", i) }

func (s Set) rng(i int) *rand.Rand { return rand.New(rand.NewPCG(s.Seed, uint64(i))) }

// Class is the RuntimeClass that gives some pods an overhead.
func Class() *node.RuntimeClass {
	return &node.RuntimeClass{
		ObjectMeta: meta.ObjectMeta{Name: overheadClass}, Handler: "bench",
		Overhead: &node.Overhead{PodFixed: core.ResourceList{
			core.ResourceCPU: resource.MustParse("130m"), core.ResourceMemory: resource.MustParse("64Mi")}},
	}
}

// Node is the i-th node, big enough for what is bound to it.
func (s Set) Node(i int) *core.Node {
	name := NodeName(i)
	room := core.ResourceList{
		core.ResourceCPU: resource.MustParse("512"), core.ResourceMemory: resource.MustParse("4Ti"),
		core.ResourcePods: resource.MustParse("1000"), gpu: resource.MustParse("64"),
		core.ResourceEphemeralStorage: resource.MustParse("8Ti"),
	}
	now := meta.Now()
	return &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: name, Labels: map[string]string{
			"kubernetes.io/hostname": name, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
			"topology.kubernetes.io/zone": fmt.Sprintf("zone-%d", i%3),
			"nvidia.com/gpu.present":      "true", "nvidia.com/gpu.count": "64",
			"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.memory": "81559",
		}},
		Status: core.NodeStatus{Capacity: room, Allocatable: room,
			Conditions: []core.NodeCondition{{Type: core.NodeReady, Status: core.ConditionTrue,
				Reason: "Bench", LastHeartbeatTime: now, LastTransitionTime: now}}},
	}
}

func pick(r *rand.Rand, from []string) string { return from[r.IntN(len(from))] }

func text(r *rand.Rand, n int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789"
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// Pod is the i-th pod, bound to its node. Those behind s.Pods are the newcomers of an update run.
func (s Set) Pod(i int) *core.Pod {
	r := s.rng(i)
	pod := s.pod(i, r, wantedSize(r))
	pod.Spec.NodeName = NodeName(i % s.Nodes)
	if r.IntN(20) == 0 {
		class := overheadClass
		pod.Spec.RuntimeClassName = &class
	}
	return pod
}

func wantedSize(r *rand.Rand) int { return sizeLeast + r.IntN(sizeMost-sizeLeast) }

// Arriving is a GPU pod as admission sees it, of 6 to 12 KB and not bound.
func (s Set) Arriving(i int) *core.Pod {
	r := s.rng(i)
	wanted := arrivingLeast + r.IntN(arrivingMost-arrivingLeast)
	pod := s.pod(i*GPUEvery, r, wanted+1000)
	pod.ManagedFields = owned(pod)
	pad(pod, wanted, 0)
	return pod
}

func (s Set) pod(i int, r *rand.Rand, wanted int) *core.Pod {
	app := pick(r, apps)
	yes := true
	hash := text(r, 10)
	pod := &core.Pod{
		ObjectMeta: meta.ObjectMeta{
			Namespace: NamespaceName(i), Name: fmt.Sprintf("%s-%s-%06d", app, hash, i),
			Labels: map[string]string{"app": app, "team": pick(r, teams), "pod-template-hash": hash},
			OwnerReferences: []meta.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet",
				Name: app + "-" + hash, UID: uid(r), Controller: &yes, BlockOwnerDeletion: &yes}},
		},
		Spec: core.PodSpec{Containers: containers(r, i)},
	}
	labels(r, pod)
	initContainers(r, pod)
	fill(r, pod, wanted)
	return pod
}

// UID is the uid of object i of a seed.
func UID(seed uint64, i int) types.UID { return uid(rand.New(rand.NewPCG(^seed, uint64(i)))) }

// Stored is the i-th pod as the API server keeps it once everybody has written their part.
func (s Set) Stored(i int) *core.Pod {
	pod := s.Pod(i)
	pod.APIVersion, pod.Kind = "v1", "Pod"
	pod.UID, pod.CreationTimestamp, pod.Generation = UID(s.Seed, i), meta.Now(), 1
	pod.ManagedFields = owned(pod)
	if pod.Spec.RuntimeClassName != nil {
		pod.Spec.Overhead = Class().Overhead.PodFixed
	}
	priority := int32(0)
	pod.Spec.Priority = &priority
	policy := core.PreemptLowerPriority
	pod.Spec.PreemptionPolicy = &policy
	if status := s.Status(i, pod); status != nil {
		pod.Status = *status
	} else {
		pod.Status.Phase = core.PodPending
	}
	pod.Status.QOSClass = core.PodQOSBurstable
	pad(pod, wantedSize(s.rng(i)), 350+130*(len(pod.Spec.Containers)+len(pod.Spec.InitContainers)))
	return pod
}

// pad lengthens an annotation until the object has the wanted size, once the server has added
// what it adds.
func pad(pod *core.Pod, wanted, added int) {
	data, err := json.Marshal(pod)
	if err != nil {
		panic(err)
	}
	shown := len(data) + added
	if shown+40 < wanted {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations["example.com/notes"] = strings.Repeat("x", wanted-shown-40)
	}
}

func uid(r *rand.Rand) types.UID {
	return types.UID(fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", r.Uint32(), r.IntN(1<<16),
		r.IntN(1<<12), r.IntN(1<<12), r.Uint64()&(1<<48-1)))
}

func labels(r *rand.Rand, pod *core.Pod) {
	for range r.IntN(6) {
		pod.Labels["example.com/"+pick(r, words)+"-"+pick(r, words)] = text(r, 4+r.IntN(20))
	}
	for range r.IntN(4) {
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations["example.com/"+pick(r, words)+"."+pick(r, words)] = text(r, 10+r.IntN(120))
	}
}

func quantities(r *rand.Rand) core.ResourceList {
	cpus := []string{"10m", "125m", "250m", "0.5", "1", "1500m", "2", "1e-1"}
	sizes := []string{"64Mi", "100M", "256Mi", "1Gi", "1.5Gi", "500000000", "2G", "128974848"}
	list := core.ResourceList{}
	if r.IntN(10) > 0 {
		list[core.ResourceCPU] = resource.MustParse(pick(r, cpus))
	}
	if r.IntN(10) > 0 {
		list[core.ResourceMemory] = resource.MustParse(pick(r, sizes))
	}
	return list
}

func container(r *rand.Rand, name string) core.Container {
	return core.Container{
		Name: name, Image: "registry.example.com/" + pick(r, teams) + "/" + pick(r, apps) + ":" + text(r, 8),
		Resources:       core.ResourceRequirements{Requests: quantities(r)},
		ImagePullPolicy: core.PullIfNotPresent,
	}
}

func containers(r *rand.Rand, i int) []core.Container {
	list := []core.Container{container(r, "main")}
	for j := range r.IntN(3) {
		if r.IntN(2) == 0 {
			list = append(list, container(r, fmt.Sprintf("helper-%d", j)))
		}
	}
	if i%GPUEvery == 0 {
		list[0].Resources.Limits = core.ResourceList{gpu: resource.MustParse("1")}
	}
	return list
}

func initContainers(r *rand.Rand, pod *core.Pod) {
	always := core.ContainerRestartPolicyAlways
	for j := range r.IntN(3) {
		if r.IntN(3) > 0 {
			continue
		}
		c := container(r, fmt.Sprintf("init-%d", j))
		if r.IntN(2) == 0 {
			c.RestartPolicy = &always
		}
		pod.Spec.InitContainers = append(pod.Spec.InitContainers, c)
	}
}

// fill adds variables until the object, as the server will show it, has about the wanted size.
func fill(r *rand.Rand, pod *core.Pod, wanted int) {
	size := 2600 + 700*(len(pod.Spec.Containers)-1) + 600*len(pod.Spec.InitContainers)
	for n := 0; ; n++ {
		name := fmt.Sprintf("%s_%s_%d", pick(r, words), text(r, 1+r.IntN(8)), n)
		value := text(r, 8+r.IntN(220))
		size += len(name) + len(value) + envCost + 25
		if size > wanted {
			return
		}
		c := &pod.Spec.Containers[n%len(pod.Spec.Containers)]
		c.Env = append(c.Env, core.EnvVar{Name: name, Value: value})
	}
}

// owned writes down who owns each variable, as the server has done by the time of admission.
func owned(pod *core.Pod) []meta.ManagedFieldsEntry {
	var b strings.Builder
	b.WriteString(`{"f:metadata":{"f:labels":{".":{},"f:app":{}}},"f:spec":{"f:containers":{`)
	for i, c := range pod.Spec.Containers {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"k:{\"name\":\"%s\"}":{".":{},"f:image":{},"f:name":{},"f:env":{".":{}`, c.Name)
		for _, v := range c.Env {
			fmt.Fprintf(&b, `,"k:{\"name\":\"%s\"}":{".":{},"f:name":{},"f:value":{}}`, v.Name)
		}
		b.WriteString("}}")
	}
	b.WriteString("}}}")
	now := meta.Now()
	return []meta.ManagedFieldsEntry{{Manager: "kube-controller-manager", APIVersion: "v1",
		Operation: meta.ManagedFieldsOperationUpdate, Time: &now, FieldsType: "FieldsV1",
		FieldsV1: &meta.FieldsV1{Raw: []byte(b.String())}}}
}

// Status is what a kubelet would have written for the i-th pod by now; nil where it has not yet.
func (s Set) Status(i int, pod *core.Pod) *core.PodStatus {
	r := s.rng(-i - 1)
	draw := r.IntN(100)
	if draw < 10 {
		return nil
	}
	now := meta.Now()
	ip := fmt.Sprintf("10.%d.%d.%d", i>>16&255, i>>8&255, i&255)
	status := &core.PodStatus{Phase: core.PodRunning, HostIP: "127.0.0.1", PodIP: ip,
		PodIPs: []core.PodIP{{IP: ip}}, StartTime: &now, QOSClass: pod.Status.QOSClass}
	ready := core.ConditionTrue
	if draw < 15 {
		status.Phase, ready = core.PodSucceeded, core.ConditionFalse
		if draw == 14 {
			status.Phase, status.Reason = core.PodFailed, "Evicted"
		}
	}
	for _, kind := range []core.PodConditionType{core.PodScheduled, core.PodInitialized,
		core.ContainersReady, core.PodReady} {
		state := core.ConditionTrue
		if kind == core.ContainersReady || kind == core.PodReady {
			state = ready
		}
		status.Conditions = append(status.Conditions, core.PodCondition{Type: kind, Status: state,
			LastTransitionTime: now})
	}
	for _, c := range pod.Spec.Containers {
		status.ContainerStatuses = append(status.ContainerStatuses, core.ContainerStatus{
			Name: c.Name, Image: c.Image, ImageID: c.Image + "@sha256:" + text(r, 64),
			ContainerID: "containerd://" + text(r, 64), Ready: ready == core.ConditionTrue})
	}
	return status
}
