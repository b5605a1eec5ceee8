// Command informer is the peer of the bench: client-go's shared informers on pods and nodes, with
// JSON on the wire and nothing added or left out, as a controller in Go would start them.
//
// It answers /readyz once both caches are full, and /count with what they hold.
package main

import (
	"encoding/json"
	"flag"
	"log"
	"net"
	"net/http"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	kubeconfig := flag.String("kubeconfig", "", "which API server")
	listen := flag.String("listen", "127.0.0.1:0", "where to answer")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		log.Fatal(err)
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	nodes := factory.Core().V1().Nodes().Informer()
	mux := http.NewServeMux()
	mux.HandleFunc("/readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !pods.HasSynced() || !nodes.HasSynced() {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	mux.HandleFunc("/count", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(map[string]int{
			"pods": live(pods.GetStore()), "nodes": len(nodes.GetStore().ListKeys())})
	})
	socket, err := net.Listen("tcp", *listen)
	if err != nil {
		log.Fatal(err)
	}
	factory.Start(nil)
	log.Fatal(http.Serve(socket, mux))
}

// live counts what the cache holds, reading the objects so that it cannot hold names alone.
func live(store cache.Store) int {
	n := 0
	for _, item := range store.List() {
		if pod, ok := item.(*core.Pod); ok && pod.Name != "" {
			n++
		}
	}
	return n
}
