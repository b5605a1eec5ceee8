package main

import (
	"context"
	"fmt"
	"log"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	typed "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// kubelets is how many say at once that a pod runs.
const kubelets = 8

// player is what the kubelets of all nodes remember. Nothing is ever taken away from a pod here, so
// counting the GPUs that were given is enough.
type player struct {
	pods  typed.PodInterface
	given map[string]int  // by node
	told  map[string]bool // by capacity pod
	start chan *core.Pod  // with the status that it gets
}

// bound gives a capacity pod that has a node the next GPU there.
func (k *player) bound(p *core.Pod) {
	if p.Spec.NodeName == "" || k.told[p.Name] {
		return
	}
	k.told[p.Name] = true
	var node int
	_, _ = fmt.Sscanf(p.Spec.NodeName, "gpu-%d", &node)
	p.Status = running(uuid(node, k.given[p.Spec.NodeName]))
	k.given[p.Spec.NodeName]++
	k.start <- p
}

// follow reads one stream, until the server ends it, as it does to readers that it finds slow; it returns the
// version to go on from.
func (k *player) follow(stream apiwatch.Interface, version string) (string, error) {
	defer stream.Stop()
	for event := range stream.ResultChan() {
		p, fits := event.Object.(*core.Pod)
		if !fits {
			return version, fmt.Errorf("the watch told %v", event.Object)
		}
		version = p.ResourceVersion
		k.bound(p)
	}
	return version, nil
}

// run says of each that it runs, as one of many kubelets.
func (k *player) run(ctx context.Context) {
	for p := range k.start {
		if _, err := k.pods.UpdateStatus(ctx, p, meta.UpdateOptions{}); err != nil && ctx.Err() == nil {
			log.Fatal(err)
		}
	}
}

// kubelet plays the kubelets of all nodes until it is told to stop.
func kubelet(ctx context.Context, config *rest.Config, o options) (map[string]any, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	k := player{pods: client.CoreV1().Pods(capacitySpace), given: map[string]int{}, told: map[string]bool{},
		start: make(chan *core.Pod, o.nodes*o.gpus)}
	for range kubelets {
		go k.run(ctx)
	}
	for version, streams := "", 0; ctx.Err() == nil; streams++ {
		stream, err := k.pods.Watch(ctx, meta.ListOptions{
			LabelSelector: "aliquot.dev/capacity=true", ResourceVersion: version})
		if err != nil {
			return nil, err
		}
		if streams == 0 {
			fmt.Println("ready")
		}
		if version, err = k.follow(stream, version); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	return map[string]any{"started": len(k.told)}, nil
}
