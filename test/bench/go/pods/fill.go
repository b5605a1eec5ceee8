package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"aliquot.dev/bench/dataset"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// fill may be run again on a cluster that is filled in part; what is there stays.
func fill(ctx context.Context, client kubernetes.Interface, o options) (map[string]any, error) {
	begun := time.Now()
	if err := createGround(ctx, client, o); err != nil {
		return nil, err
	}
	err := each(o.set.Nodes, o.workers, func(i int) error { return createNode(ctx, client, o.set.Node(i)) })
	if err != nil {
		return nil, err
	}
	err = each(o.set.Pods, o.workers, func(i int) error { return createPod(ctx, client, o.set, i) })
	if err != nil {
		return nil, err
	}
	return map[string]any{"pods": o.set.Pods, "nodes": o.set.Nodes,
		"fill_s": int(time.Since(begun).Seconds())}, nil
}

// createGround makes what pods refer to.
func createGround(ctx context.Context, client kubernetes.Interface, o options) error {
	_, err := client.NodeV1().RuntimeClasses().Create(ctx, dataset.Class(), meta.CreateOptions{})
	if present(err) != nil {
		return err
	}
	return each(dataset.Namespaces, o.workers, func(i int) error {
		_, err := client.CoreV1().Namespaces().Create(ctx, &core.Namespace{
			ObjectMeta: meta.ObjectMeta{Name: dataset.NamespaceName(i)}}, meta.CreateOptions{})
		return present(err)
	})
}

// present forgives that an object was there already.
func present(err error) error {
	if errors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

func createNode(ctx context.Context, client kubernetes.Interface, wanted *core.Node) error {
	node, err := client.CoreV1().Nodes().Create(ctx, wanted, meta.CreateOptions{})
	if err != nil {
		return present(err)
	}
	node.Status = wanted.Status
	// The server taints every new node, and no controller runs here that would take that away.
	node.Spec.Taints = nil
	if node, err = client.CoreV1().Nodes().Update(ctx, node, meta.UpdateOptions{}); err != nil {
		return err
	}
	node.Status = wanted.Status
	_, err = client.CoreV1().Nodes().UpdateStatus(ctx, node, meta.UpdateOptions{})
	return err
}

func createPod(ctx context.Context, client kubernetes.Interface, set dataset.Set, i int) error {
	wanted := set.Pod(i)
	pods := client.CoreV1().Pods(wanted.Namespace)
	pod, err := pods.Create(ctx, wanted, meta.CreateOptions{})
	if err != nil {
		return present(err)
	}
	status := set.Status(i, pod)
	if status == nil {
		return nil
	}
	pod.Status = *status
	_, err = pods.UpdateStatus(ctx, pod, meta.UpdateOptions{})
	return err
}

// each calls do(0) … do(n-1) from several workers and returns the first error.
func each(n, workers int, do func(int) error) error {
	var next atomic.Int64
	var first atomic.Pointer[error]
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for first.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := do(i); err != nil {
					wrapped := fmt.Errorf("object %d: %w", i, err)
					first.CompareAndSwap(nil, &wrapped)
				}
			}
		})
	}
	group.Wait()
	if err := first.Load(); err != nil {
		return *err
	}
	return nil
}
