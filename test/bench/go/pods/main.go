// Command pods fills a cluster for the benches, and then keeps it moving.
//
//	pods fill    creates nodes, namespaces and pods, and writes the pods' status as kubelets would
//	pods seed    the same cluster, but nodes and pods are written into the server's etcd
//	pods churn   patches, finishes, deletes and creates pods at a constant rate
//
// The last line of output is one JSON object with counts.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"aliquot.dev/bench/dataset"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

type options struct {
	set           dataset.Set
	workers, rate int
	length        time.Duration
	seed          uint64
	etcd          string
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: pods fill|seed|churn [flags]")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "which API server")
	var o options
	flags.IntVar(&o.set.Pods, "pods", 100000, "pods of the cluster")
	flags.IntVar(&o.set.Nodes, "nodes", 1000, "nodes of the cluster")
	flags.Uint64Var(&o.set.Seed, "seed", 1, "what the cluster is drawn from")
	flags.IntVar(&o.workers, "workers", 32, "requests at once")
	flags.StringVar(&o.etcd, "etcd", "", "seed: URL of the server's etcd")
	flags.IntVar(&o.rate, "rate", 200, "churn: writes a second")
	flags.DurationVar(&o.length, "length", 2*time.Minute, "churn: how long")
	flags.Uint64Var(&o.seed, "churn-seed", 1, "churn: what the writes are drawn from")
	_ = flags.Parse(os.Args[2:])
	client, err := connect(*kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	run, known := map[string]func(context.Context, kubernetes.Interface, options) (map[string]any, error){
		"fill": fill, "seed": seed, "churn": churn}[os.Args[1]]
	if !known {
		log.Fatalf("no command %q", os.Args[1])
	}
	counts, err := run(context.Background(), client, o)
	if err != nil {
		log.Fatal(err)
	}
	line, _ := json.Marshal(counts)
	fmt.Println(string(line))
}

// connect gives a client that is limited by the server alone. It speaks protobuf, which costs the
// server less than JSON; what is measured does not depend on how the pods came in.
func connect(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.QPS = -1
	config.UserAgent = "bench-pods"
	return kubernetes.NewForConfig(config)
}
