// Command reviews asks an admission webhook at a constant rate, whatever its answers take, and
// says how long they took and whether each was right.
//
// It connects, prints "ready", waits for a line on its input, and then sends. The last line of
// output is one JSON object; a latency runs from the first byte sent to the last byte of the answer.
package main

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"os"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

const memoryLimit = 2 << 30

type options struct {
	address, ca, serverName string
	rate, connections       int
	length                  time.Duration
	seed                    uint64
	bodies                  int
}

func main() {
	var o options
	flag.StringVar(&o.address, "address", "", "host and port of the webhook")
	flag.StringVar(&o.ca, "ca", "", "file with its authority")
	flag.StringVar(&o.serverName, "server-name", "", "name in its certificate")
	flag.IntVar(&o.rate, "rate", 1000, "reviews a second")
	flag.IntVar(&o.connections, "connections", 20, "connections, kept open")
	flag.DurationVar(&o.length, "length", time.Minute, "how long")
	flag.Uint64Var(&o.seed, "seed", 1, "what the pods are drawn from")
	flag.IntVar(&o.bodies, "bodies", 2000, "how many different pods")
	flag.Parse()
	// A collection on the one core that is ours would hold requests back and then send them together.
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(memoryLimit)
	if err := run(o); err != nil {
		log.Fatal(err)
	}
}

func run(o options) error {
	made := makeReviews(o.seed, o.bodies)
	config, err := trust(o)
	if err != nil {
		return err
	}
	clients := make([]*client, o.connections)
	for i := range clients {
		clients[i] = &client{address: o.address, config: config, work: make(chan task, 4096)}
		if err := clients[i].connect(); err != nil {
			return err
		}
	}
	fmt.Println("ready")
	if _, err := bufio.NewReader(os.Stdin).ReadString('\n'); err != nil {
		return err
	}
	var group sync.WaitGroup
	for _, c := range clients {
		group.Go(c.serve)
	}
	begun := time.Now()
	pace(o, clients, made, begun)
	for _, c := range clients {
		close(c.work)
	}
	group.Wait()
	report(o, clients, made, time.Since(begun))
	return nil
}

func trust(o options) (*tls.Config, error) {
	pem, err := os.ReadFile(o.ca)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate", o.ca)
	}
	return &tls.Config{RootCAs: pool, ServerName: o.serverName}, nil
}

func report(o options, clients []*client, made []review, took time.Duration) {
	var answers, sincePlanned []int64
	counts := map[string]int{}
	firstWrong := ""
	for _, c := range clients {
		answers = append(answers, c.took...)
		sincePlanned = append(sincePlanned, c.planned...)
		for what, n := range c.counts {
			counts[what] += n
		}
		if firstWrong == "" {
			firstWrong = c.firstWrong
		}
	}
	sizes := make([]int64, len(made))
	for i, r := range made {
		sizes[i] = int64(r.podBytes)
	}
	slices.Sort(sizes)
	line, _ := json.Marshal(map[string]any{
		"sent": int(o.length.Seconds() * float64(o.rate)), "answered": len(answers),
		"per_second": float64(len(answers)) / took.Seconds(), "errors": counts["error"],
		"wrong": counts["wrong"], "not_synced": counts["not_synced"], "tenants": counts["tenant"], "whole": counts["whole"],
		"p50_us": percentile(answers, 50), "p99_us": percentile(answers, 99),
		"max_us": percentile(answers, 100), "p99_since_planned_us": percentile(sincePlanned, 99),
		"pod_bytes":   []int64{percentile(sizes, 0), percentile(sizes, 50), percentile(sizes, 100)},
		"first_wrong": firstWrong,
	})
	fmt.Println(string(line))
}

// percentile sorts its numbers; -1 where there are none.
func percentile(of []int64, percent int) int64 {
	if len(of) == 0 {
		return -1
	}
	slices.Sort(of)
	at := (len(of)*percent + 99) / 100
	return of[min(max(at, 1), len(of))-1]
}
