// Command burst is the inside of hack/bench burst: a cluster with capacity pods that run and tenants
// that wait at their gate, the least program that places them, and who takes the time.
//
//	burst seed      creates nodes, capacity pods that hold their GPU, and gated tenants
//	burst floor     one compare-and-swap a GPU, then one patch a tenant, as fast as the server answers
//	burst watch     says when the first ledger was written and when the last tenant was placed
//	burst kubelet   lets capacity pods that the scheduler bound run, each with a GPU of its node
//
// The last line of output is one JSON object.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	tenantSpace   = "burst"
	capacitySpace = "aliquot-system"
	gate          = "aliquot.dev/gpu"
	memoryMiB     = 81079
	shareMilli    = 200
	shareMiB      = memoryMiB * shareMilli / 1000
	perGPU        = 1000 / shareMilli
)

// ownCPU is what this process has used of the processors, in seconds.
func ownCPU() float64 {
	var used syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	return time.Duration(used.Utime.Nano() + used.Stime.Nano()).Seconds()
}

type options struct {
	nodes, gpus, tenants, workers int
	cold                          bool
	owner, creator                string
}

func main() {
	if len(os.Args) < 2 {
		log.Fatal("usage: burst seed|floor|watch|kubelet [flags]")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	kubeconfig := flags.String("kubeconfig", "", "which API server")
	var o options
	flags.IntVar(&o.nodes, "nodes", 100, "nodes of the cluster")
	flags.IntVar(&o.gpus, "gpus", 8, "GPUs of each")
	flags.IntVar(&o.tenants, "tenants", 4000, "tenants that wait")
	flags.IntVar(&o.workers, "workers", 32, "requests at once")
	flags.BoolVar(&o.cold, "cold", false, "seed: without capacity pods")
	flags.StringVar(&o.owner, "owner-uid", "", "seed: of the ConfigMap that owns capacity pods")
	flags.StringVar(&o.creator, "creator", "", "seed: kubeconfig of the controller, who alone may create those")
	_ = flags.Parse(os.Args[2:])
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.QPS = -1
	config.UserAgent = "bench-burst"
	run, known := map[string]func(context.Context, *rest.Config, options) (map[string]any, error){
		"seed": seed, "floor": floor, "watch": watch, "kubelet": kubelet}[os.Args[1]]
	if !known {
		log.Fatalf("no command %q", os.Args[1])
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	result, err := run(ctx, config, o)
	if err != nil {
		log.Fatal(err)
	}
	line, _ := json.Marshal(result)
	fmt.Println(string(line))
}
