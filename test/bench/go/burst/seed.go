package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func nodeName(i int) string { return fmt.Sprintf("gpu-%03d", i) }

func uuid(node, gpu int) string { return fmt.Sprintf("GPU-00000000-0000-0000-%04x-%012x", node, gpu) }

func capacityName(node, gpu int) string { return fmt.Sprintf("capacity-%012x-%d", node, gpu) }

// each calls f for 0 to count-1, o.workers at once, and returns the first error.
func each(o options, count int, f func(i int) error) error {
	var group sync.WaitGroup
	numbers, failed := make(chan int), make(chan error, 1)
	for range o.workers {
		group.Go(func() {
			for i := range numbers {
				if err := f(i); err != nil {
					select {
					case failed <- err:
					default:
					}
				}
			}
		})
	}
	for i := range count {
		numbers <- i
	}
	close(numbers)
	group.Wait()
	select {
	case err := <-failed:
		return err
	default:
		return nil
	}
}

func seed(ctx context.Context, config *rest.Config, o options) (map[string]any, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	if err := each(o, o.nodes, func(i int) error { return makeNode(ctx, client, i, o.gpus) }); err != nil {
		return nil, err
	}
	creator, err := clientOf(o.creator)
	if err != nil {
		return nil, err
	}
	capacity := o.nodes * o.gpus
	if o.cold {
		capacity = 0
	}
	err = each(o, capacity, func(i int) error {
		p := capacityPod(i/o.gpus, i%o.gpus, o.owner)
		made, err := creator.CoreV1().Pods(capacitySpace).Create(ctx, p, meta.CreateOptions{})
		if err != nil {
			return err
		}
		made.Status = running(uuid(i/o.gpus, i%o.gpus))
		_, err = client.CoreV1().Pods(capacitySpace).UpdateStatus(ctx, made, meta.UpdateOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	space := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: tenantSpace}}
	if _, err := client.CoreV1().Namespaces().Create(ctx, space, meta.CreateOptions{}); err != nil {
		return nil, err
	}
	err = each(o, o.tenants, func(i int) error {
		_, err := client.CoreV1().Pods(tenantSpace).Create(ctx, tenant(i), meta.CreateOptions{})
		return err
	})
	return map[string]any{"nodes": o.nodes, "capacity": capacity, "tenants": o.tenants}, err
}

func clientOf(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.QPS = -1
	return kubernetes.NewForConfig(config)
}

func makeNode(ctx context.Context, client kubernetes.Interface, i, gpus int) error {
	room := core.ResourceList{
		"cpu": resource.MustParse("128"), "memory": resource.MustParse("1024Gi"),
		"pods": resource.MustParse("250"), "ephemeral-storage": resource.MustParse("1Ti"),
		"nvidia.com/gpu": resource.MustParse(fmt.Sprint(gpus))}
	node := &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: nodeName(i), Labels: map[string]string{
			"kubernetes.io/hostname": nodeName(i), "kubernetes.io/os": "linux",
			"nvidia.com/gpu.count": fmt.Sprint(gpus), "nvidia.com/gpu.memory": "81559",
			"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3"}},
		Status: core.NodeStatus{Capacity: room, Allocatable: room, Conditions: []core.NodeCondition{{
			Type: core.NodeReady, Status: core.ConditionTrue, Reason: "Played",
			LastHeartbeatTime: meta.Now(), LastTransitionTime: meta.Now()}}}}
	nodes := client.CoreV1().Nodes()
	made, err := nodes.Create(ctx, node, meta.CreateOptions{})
	if err != nil {
		return err
	}
	// New nodes are tainted until a controller, which does not run here, has seen them ready.
	made.Spec.Taints = nil
	if made, err = nodes.Update(ctx, made, meta.UpdateOptions{}); err != nil {
		return err
	}
	made.Status = node.Status
	_, err = nodes.UpdateStatus(ctx, made, meta.UpdateOptions{})
	return err
}

// capacityPod is one as the controller creates it, bound to its node.
func capacityPod(node, gpu int, owner string) *core.Pod {
	one := core.ResourceList{"cpu": resource.MustParse("10m"), "memory": resource.MustParse("32Mi"),
		"nvidia.com/gpu": resource.MustParse("1")}
	// As the admission policies of the product want them.
	yes, no, user, grace := true, false, int64(60812), int64(10)
	context := core.SecurityContext{AllowPrivilegeEscalation: &no,
		Capabilities: &core.Capabilities{Drop: []core.Capability{"ALL"}}}
	container := func(name string, args ...string) core.Container {
		return core.Container{Name: name, Image: "aliquot:bench", Args: args, SecurityContext: &context,
			Resources: core.ResourceRequirements{Requests: one, Limits: one}}
	}
	return &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: capacityName(node, gpu), Namespace: capacitySpace,
			Labels: map[string]string{"aliquot.dev/capacity": "true", "aliquot.dev/in-use": "false"},
			OwnerReferences: []meta.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap",
				Name: "aliquot-capacity", UID: types.UID(owner), Controller: &yes}}},
		Spec: core.PodSpec{NodeName: nodeName(node), TerminationGracePeriodSeconds: &grace,
			PriorityClassName: "aliquot-capacity", ServiceAccountName: "aliquot-capacity",
			AutomountServiceAccountToken: &no,
			SecurityContext:              &core.PodSecurityContext{RunAsNonRoot: &yes, RunAsUser: &user},
			InitContainers:               []core.Container{container("identify", "capacity", "identify")},
			Containers:                   []core.Container{container("hold", "capacity", "hold")}}}
}

// running is the status of a capacity pod that holds this GPU.
func running(id string) core.PodStatus {
	told, _ := json.Marshal(map[string]any{"v": 1, "uuid": id, "memory": memoryMiB,
		"model": "NVIDIA H100 80GB HBM3", "minor": 0, "driver": "570.86.15"})
	now := meta.Now()
	yes := true
	return core.PodStatus{Phase: core.PodRunning, StartTime: &now,
		Conditions: []core.PodCondition{
			{Type: core.PodScheduled, Status: core.ConditionTrue, LastTransitionTime: now},
			{Type: core.PodReady, Status: core.ConditionTrue, LastTransitionTime: now}},
		InitContainerStatuses: []core.ContainerStatus{{Name: "identify", Ready: true,
			State: core.ContainerState{Terminated: &core.ContainerStateTerminated{
				Reason: "Completed", Message: string(told), StartedAt: now, FinishedAt: now}}}},
		ContainerStatuses: []core.ContainerStatus{{Name: "hold", Ready: true, Started: &yes,
			State: core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: now}}}}}
}

// tenant is a pod as the webhook leaves it.
func tenant(i int) *core.Pod {
	from := func(key string) *core.EnvVarSource {
		return &core.EnvVarSource{FieldRef: &core.ObjectFieldSelector{
			FieldPath: "metadata.annotations['aliquot.dev/" + key + "']"}}
	}
	small := core.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("256Mi")}
	return &core.Pod{
		ObjectMeta: meta.ObjectMeta{Name: fmt.Sprintf("tenant-%05d", i),
			Labels: map[string]string{"app": "burst", "aliquot.dev/tenant": "true"},
			Annotations: map[string]string{
				"aliquot.dev/gpu-fraction": "0.2", "aliquot.dev/container": "main",
				"aliquot.dev/share":    "0.20",
				"aliquot.dev/original": `{"v":1,"limits":{"nvidia.com/gpu":"1"}}`}},
		Spec: core.PodSpec{
			SchedulingGates: []core.PodSchedulingGate{{Name: gate}},
			Tolerations:     []core.Toleration{{Key: "nvidia.com/gpu", Operator: core.TolerationOpExists}},
			Containers: []core.Container{{Name: "main", Image: "app",
				Env: []core.EnvVar{{Name: "NVIDIA_VISIBLE_DEVICES", ValueFrom: from("visible-devices")},
					{Name: "CUDA_VISIBLE_DEVICES", ValueFrom: from("visible-devices")}},
				Resources: core.ResourceRequirements{Requests: small, Limits: small}}}}}
}
