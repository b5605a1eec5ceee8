package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
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

// follow reads one stream until the server ends it, which it does to readers that it finds slow on
// a busy machine; it returns the version to go on from.
func (t *tally) follow(stream apiwatch.Interface, version string, wanted int, given <-chan time.Time) (string, error) {
	defer stream.Stop()
	for len(t.placed) < wanted {
		select {
		case <-given:
			return version, fmt.Errorf("%d of %d tenants were placed", len(t.placed), wanted)
		case event, open := <-stream.ResultChan():
			if !open {
				return version, nil
			}
			obj, fits := event.Object.(*meta.PartialObjectMetadata)
			if !fits {
				return version, fmt.Errorf("the watch told %v", event.Object)
			}
			version = obj.ResourceVersion
			if obj.Namespace == tenantSpace {
				t.tenant(obj.Name, obj.Annotations["aliquot.dev/gpu-uuid"])
			} else if obj.Namespace == capacitySpace {
				t.holder(obj.Name, obj.Annotations["aliquot.dev/grants"])
			}
		}
	}
	return version, nil
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
	t := tally{placed: map[string]string{}, versions: map[string]string{}}
	version, given, streams := listed.ResourceVersion, time.After(patience), 0
	for ; len(t.placed) < o.tenants; streams++ {
		stream, err := pods.Watch(ctx, meta.ListOptions{ResourceVersion: version})
		if err != nil {
			return nil, err
		}
		if streams == 0 {
			fmt.Println("ready")
		}
		if version, err = t.follow(stream, version, o.tenants, given); err != nil {
			return nil, err
		}
	}
	entries, twice := t.ledgers()
	return map[string]any{"seconds": t.last.Sub(t.first).Seconds(), "placed": len(t.placed),
		"grants": t.grants, "moved": t.moved, "most_on_a_gpu": t.most(), "entries": entries, "twice": twice,
		"streams": streams, "cpu_s": ownCPU(), "first_unix": float64(t.first.UnixMilli()) / 1000,
		"last_unix": float64(t.last.UnixMilli()) / 1000}, nil
}
