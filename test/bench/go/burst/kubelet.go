package main

import (
	"context"
	"fmt"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// kubelet gives each capacity pod that was bound the next GPU of its node and says that it runs.
// Nothing is ever taken away from it here, so counting is enough.
func kubelet(ctx context.Context, config *rest.Config, o options) (map[string]any, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	pods := client.CoreV1().Pods(capacitySpace)
	stream, err := pods.Watch(ctx, meta.ListOptions{LabelSelector: "aliquot.dev/capacity=true"})
	if err != nil {
		return nil, err
	}
	defer stream.Stop()
	fmt.Println("ready")
	given, told := map[string]int{}, map[string]bool{}
	for event := range stream.ResultChan() {
		p, fits := event.Object.(*core.Pod)
		if !fits || p.Spec.NodeName == "" || told[p.Name] {
			continue
		}
		told[p.Name] = true
		var node int
		_, _ = fmt.Sscanf(p.Spec.NodeName, "gpu-%d", &node)
		p.Status = running(uuid(node, given[p.Spec.NodeName]))
		given[p.Spec.NodeName]++
		if _, err := pods.UpdateStatus(ctx, p, meta.UpdateOptions{}); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	return map[string]any{"started": len(told)}, nil
}
