package main

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

type grant struct {
	UID   types.UID `json:"uid"`
	Space string    `json:"ns"`
	Name  string    `json:"name"`
	Milli int       `json:"milli"`
	MiB   int       `json:"mib"`
}

// job is one request; what it makes possible is put in front of what waits.
type job func() ([]job, error)

// stack hands out jobs, the newest first, until none waits and none runs.
type stack struct {
	lock    sync.Mutex
	changed *sync.Cond
	jobs    []job
	running int
	err     error
}

func (s *stack) work() {
	s.lock.Lock()
	defer s.lock.Unlock()
	for {
		for len(s.jobs) == 0 && s.running > 0 && s.err == nil {
			s.changed.Wait()
		}
		if len(s.jobs) == 0 || s.err != nil {
			s.changed.Broadcast()
			return
		}
		next := s.jobs[len(s.jobs)-1]
		s.jobs = s.jobs[:len(s.jobs)-1]
		s.running++
		s.lock.Unlock()
		more, err := next()
		s.lock.Lock()
		s.running--
		s.jobs = append(s.jobs, more...)
		if err != nil {
			s.err = err
		}
		s.changed.Broadcast()
	}
}

func (s *stack) run(workers int) error {
	s.changed = sync.NewCond(&s.lock)
	var group sync.WaitGroup
	for range workers {
		group.Go(s.work)
	}
	group.Wait()
	return s.err
}

// send writes a merge patch and throws the answer away, unless it is an error.
func send(ctx context.Context, client rest.Interface, space, name string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = client.Patch(types.MergePatchType).Namespace(space).Resource("pods").Name(name).
		Body(text).DoRaw(ctx)
	return err
}

func ledgerPatch(p *core.Pod, tenants []core.Pod) any {
	grants := []grant{}
	for _, t := range tenants {
		grants = append(grants, grant{t.UID, t.Namespace, t.Name, shareMilli, shareMiB})
	}
	ledger, _ := json.Marshal(map[string]any{"v": 1, "grants": grants})
	return map[string]any{"metadata": map[string]any{
		"uid": p.UID, "resourceVersion": p.ResourceVersion,
		"labels":      map[string]string{"aliquot.dev/in-use": "true"},
		"annotations": map[string]string{"aliquot.dev/grants": string(ledger)}}}
}

func placePatch(p *core.Pod, id string, t *core.Pod) any {
	field := map[string]any{"key": "metadata.name", "operator": "In", "values": []string{p.Spec.NodeName}}
	terms := []any{map[string]any{"matchFields": []any{field}}}
	return map[string]any{
		"metadata": map[string]any{"uid": t.UID, "resourceVersion": t.ResourceVersion,
			"annotations": map[string]string{
				"aliquot.dev/gpu-uuid": id, "aliquot.dev/visible-devices": id,
				"aliquot.dev/compute-milli": fmt.Sprint(shareMilli),
				"aliquot.dev/memory-mib":    fmt.Sprint(shareMiB),
				"aliquot.dev/capacity-pod":  p.Name,
				// As high as any that a Lease may have: what the fence has to do is part of both.
				"aliquot.dev/term": "1000000000"}},
		"spec": map[string]any{"schedulingGates": []any{},
			"affinity": map[string]any{"nodeAffinity": map[string]any{
				"requiredDuringSchedulingIgnoredDuringExecution": map[string]any{
					"nodeSelectorTerms": terms}}}}}
}

func told(p *core.Pod) string {
	var id struct {
		UUID string `json:"uuid"`
	}
	for _, s := range p.Status.InitContainerStatuses {
		if s.State.Terminated != nil {
			_ = json.Unmarshal([]byte(s.State.Terminated.Message), &id)
		}
	}
	return id.UUID
}

// floor places the tenants on the GPUs in the order of both lists: it decides nothing, watches
// nothing and looks at nothing. One compare-and-swap for all tenants of a GPU, then their patches.
func floor(ctx context.Context, config *rest.Config, o options) (map[string]any, error) {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	holders, err := client.CoreV1().Pods(capacitySpace).List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	tenants, err := client.CoreV1().Pods(tenantSpace).List(ctx, meta.ListOptions{})
	if err != nil {
		return nil, err
	}
	all := stack{}
	writer := client.CoreV1().RESTClient()
	for i := range holders.Items {
		from, to := min(i*perGPU, len(tenants.Items)), min((i+1)*perGPU, len(tenants.Items))
		p, mine := &holders.Items[i], tenants.Items[from:to]
		if len(mine) > 0 {
			all.jobs = append(all.jobs, func() ([]job, error) {
				if err := send(ctx, writer, capacitySpace, p.Name, ledgerPatch(p, mine)); err != nil {
					return nil, err
				}
				return placements(ctx, writer, p, mine), nil
			})
		}
	}
	begun := time.Now()
	if err := all.run(o.workers); err != nil {
		return nil, err
	}
	return map[string]any{"seconds": time.Since(begun).Seconds(), "placed": len(tenants.Items),
		"workers": o.workers, "cpu_s": ownCPU()}, nil
}

func placements(ctx context.Context, writer rest.Interface, p *core.Pod, mine []core.Pod) []job {
	jobs := []job{}
	for k := range mine {
		jobs = append(jobs, func() ([]job, error) {
			return nil, send(ctx, writer, tenantSpace, mine[k].Name, placePatch(p, told(p), &mine[k]))
		})
	}
	return jobs
}
