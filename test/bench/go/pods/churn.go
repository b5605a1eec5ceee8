package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"aliquot.dev/bench/dataset"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// One write in a hundred of them is which: the rest patches labels and annotations.
const (
	percentStatus = 20 // a condition turns
	percentFinish = 4  // Running to Succeeded: its requests no longer count
	percentSwap   = 3  // one pod goes, another of another shape comes
)

type counter struct {
	sync.Mutex
	done   map[string]int
	failed error
}

func (c *counter) add(what string, err error) {
	c.Lock()
	defer c.Unlock()
	if err != nil && !errors.IsNotFound(err) && c.failed == nil {
		c.failed = fmt.Errorf("%s: %w", what, err)
	}
	c.done[what]++
}

// churn writes at a constant rate, or as fast as the server takes it, for the time given.
func churn(ctx context.Context, client kubernetes.Interface, o options) (map[string]any, error) {
	r := rand.New(rand.NewPCG(o.seed, 0))
	work := make(chan func(), o.workers)
	count := &counter{done: map[string]int{}}
	var group sync.WaitGroup
	for range o.workers {
		group.Go(func() {
			for do := range work {
				do()
			}
		})
	}
	total := int(o.length.Seconds() * float64(o.rate))
	begun := time.Now()
	// Newcomers of several runs on one cluster do not meet.
	fresh := o.set.Pods + int(o.seed)*1_000_000
	for n := range total {
		due := begun.Add(time.Duration(n) * time.Second / time.Duration(o.rate))
		time.Sleep(time.Until(due))
		if time.Since(begun) > o.length+time.Second {
			break
		}
		work <- draw(ctx, client, o.set, r, &fresh, count)
	}
	close(work)
	group.Wait()
	took := time.Since(begun).Seconds()
	all := 0
	for _, n := range count.done {
		all += n
	}
	return map[string]any{"writes": count.done, "churn_s": int(took + 0.5),
		"per_second": int(float64(all) / took)}, count.failed
}

func draw(ctx context.Context, client kubernetes.Interface, set dataset.Set, r *rand.Rand,
	fresh *int, count *counter) func() {
	i := r.IntN(set.Pods)
	pod := set.Pod(i)
	pods := client.CoreV1().Pods(pod.Namespace)
	patch := func(what, body string, sub ...string) func() {
		return func() {
			_, err := pods.Patch(ctx, pod.Name, types.StrategicMergePatchType, []byte(body),
				meta.PatchOptions{}, sub...)
			count.add(what, err)
		}
	}
	which := r.IntN(100)
	switch {
	case which < percentSwap:
		newcomer := *fresh
		*fresh++
		return func() {
			now := int64(0)
			count.add("delete", pods.Delete(ctx, pod.Name, meta.DeleteOptions{GracePeriodSeconds: &now}))
			count.add("create", createPod(ctx, client, set, newcomer))
		}
	case which < percentSwap+percentFinish:
		return patch("finish", `{"status":{"phase":"Succeeded"}}`, "status")
	case which < percentSwap+percentFinish+percentStatus:
		return patch("status", fmt.Sprintf(`{"status":{"conditions":[{"type":"Ready","status":"%s",`+
			`"lastTransitionTime":"%s"}]}}`, []string{"True", "False"}[r.IntN(2)],
			time.Now().UTC().Format(time.RFC3339)), "status")
	}
	return patch("patch", fmt.Sprintf(`{"metadata":{"labels":{"example.com/revision":"r%d"},`+
		`"annotations":{"example.com/note":"%016x"}}}`, r.IntN(1000), r.Uint64()))
}
