package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"aliquot.dev/bench/dataset"
	etcd "go.etcd.io/etcd/client/v3"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// Objects of one transaction: etcd takes 128 operations and 1.5 MiB at most.
const batch = 64

// seed writes nodes and pods into etcd in the form in which the API server stores them, as a
// restore from a backup does. The server serves them as it serves any other; only their way in is
// shorter, by a factor of thirty. Namespaces and the RuntimeClass come through the server.
func seed(ctx context.Context, client kubernetes.Interface, o options) (map[string]any, error) {
	begun := time.Now()
	if err := createGround(ctx, client, o); err != nil {
		return nil, err
	}
	store, err := etcd.New(etcd.Config{Endpoints: []string{o.etcd}, DialTimeout: 10 * time.Second})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	coder := protobuf.NewSerializer(scheme.Scheme, scheme.Scheme)
	err = put(ctx, store, o.set.Nodes, o.workers, func(i int) (string, []byte, error) {
		node := o.set.Node(i)
		node.APIVersion, node.Kind = "v1", "Node"
		node.UID, node.CreationTimestamp = dataset.UID(o.set.Seed, -i-1), meta.Now()
		data, err := encode(coder, node)
		return "/registry/minions/" + node.Name, data, err
	})
	if err != nil {
		return nil, err
	}
	err = put(ctx, store, o.set.Pods, o.workers, func(i int) (string, []byte, error) {
		pod := o.set.Stored(i)
		data, err := encode(coder, pod)
		return "/registry/pods/" + pod.Namespace + "/" + pod.Name, data, err
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{"pods": o.set.Pods, "nodes": o.set.Nodes,
		"fill_s": int(time.Since(begun).Seconds())}, nil
}

func encode(coder runtime.Encoder, object runtime.Object) ([]byte, error) {
	var b bytes.Buffer
	err := coder.Encode(object, &b)
	return b.Bytes(), err
}

// put stores n objects in transactions of a few.
func put(ctx context.Context, store *etcd.Client, n, workers int,
	make func(int) (string, []byte, error)) error {
	return each((n+batch-1)/batch, min(workers, 4), func(b int) error {
		var ops []etcd.Op
		for i := b * batch; i < min(n, (b+1)*batch); i++ {
			key, data, err := make(i)
			if err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			ops = append(ops, etcd.OpPut(key, string(data)))
		}
		_, err := store.Txn(ctx).Then(ops...).Commit()
		return err
	})
}
