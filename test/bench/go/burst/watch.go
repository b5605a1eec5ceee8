package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
)

const patience = 10 * time.Minute

// tally is what the watch has seen; a tenant counts when its GPU stands on it.
type tally struct {
	first, last time.Time
	placed      map[string]string // tenant's name to its GPU
	grants      int               // writes of ledgers
	moved       int               // tenants whose GPU changed, which must not happen
	versions    map[string]string // capacity pod's name to its ledger
}

func (t *tally) tenant(name, id string) {
	before, known := t.placed[name]
	if id == "" || id == before {
		return
	}
	if known {
		t.moved++
	}
	t.placed[name] = id
	t.last = time.Now()
}

func (t *tally) holder(name, ledger string) {
	if ledger == "" || ledger == t.versions[name] {
		return
	}
	if t.first.IsZero() {
		t.first = time.Now()
	}
	t.versions[name] = ledger
	t.grants++
}

// most is the number of tenants on the GPU with the most.
func (t *tally) most() int {
	most, by := 0, map[string]int{}
	for _, id := range t.placed {
		by[id]++
		most = max(most, by[id])
	}
	return most
}

// ledgers counts tenants that stand in one, and those that stand in two.
func (t *tally) ledgers() (entries, twice int) {
	seen := map[string]bool{}
	for _, text := range t.versions {
		var l struct {
			Grants []grant `json:"grants"`
		}
		_ = json.Unmarshal([]byte(text), &l)
		for _, g := range l.Grants {
			entries++
			if seen[string(g.UID)] {
				twice++
			}
			seen[string(g.UID)] = true
		}
	}
	return entries, twice
}

// watch reads the metadata of pods alone, so that it takes little of the server for itself.
func watch(ctx context.Context, config *rest.Config, o options) (map[string]any, error) {
	client, err := metadata.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	pods := client.Resource(schema.GroupVersionResource{Version: "v1", Resource: "pods"})
	listed, err := pods.List(ctx, meta.ListOptions{ResourceVersion: "0"})
	if err != nil {
		return nil, err
	}
	stream, err := pods.Watch(ctx, meta.ListOptions{ResourceVersion: listed.ResourceVersion})
	if err != nil {
		return nil, err
	}
	defer stream.Stop()
	fmt.Println("ready")
	t := tally{placed: map[string]string{}, versions: map[string]string{}}
	given := time.After(patience)
	for len(t.placed) < o.tenants {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-given:
			return nil, fmt.Errorf("%d of %d tenants were placed", len(t.placed), o.tenants)
		case event, open := <-stream.ResultChan():
			if !open {
				return nil, fmt.Errorf("the watch ended with %d tenants placed", len(t.placed))
			}
			obj, fits := event.Object.(*meta.PartialObjectMetadata)
			if !fits {
				return nil, fmt.Errorf("the watch told %v", event.Object)
			}
			if obj.Namespace == tenantSpace {
				t.tenant(obj.Name, obj.Annotations["aliquot.dev/gpu-uuid"])
			} else if obj.Namespace == capacitySpace {
				t.holder(obj.Name, obj.Annotations["aliquot.dev/grants"])
			}
		}
	}
	entries, twice := t.ledgers()
	return map[string]any{"seconds": t.last.Sub(t.first).Seconds(), "placed": len(t.placed),
		"grants": t.grants, "moved": t.moved, "most_on_a_gpu": t.most(), "entries": entries, "twice": twice,
		"first_unix": float64(t.first.UnixMilli()) / 1000, "last_unix": float64(t.last.UnixMilli()) / 1000}, nil
}
