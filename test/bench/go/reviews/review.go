package main

import (
	"bytes"
	"encoding/json"
	"log"

	"aliquot.dev/bench/dataset"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	fraction  = "aliquot.dev/gpu-fraction"
	uidHolder = "ffffffff-ffff-4fff-8fff-ffffffffffff"
)

// review is an AdmissionReview, ready to be sent once its uid is written in.
type review struct {
	what     string
	tenant   bool
	body     []byte
	uidAt    int
	podBytes int
}

func (r *review) kind() string {
	if r.tenant {
		return "tenant"
	}
	return "whole"
}

// Every second pod becomes a tenant; the others stay whole, each for another reason.
var (
	shares = []string{"0.25", "0.5", "0.1", "125m", "0.333"}
	whole  = []struct {
		what string
		do   func(*core.Pod)
	}{
		{"no share asked for", func(p *core.Pod) { delete(p.Annotations, fraction) }},
		{"excluded", func(p *core.Pod) { p.Annotations["aliquot.dev/exclude"] = "true" }},
		{"another scheduler", func(p *core.Pod) { p.Spec.SchedulerName = "volcano" }},
		{"malformed share", func(p *core.Pod) { p.Annotations[fraction] = "a quarter" }},
		{"bound already", func(p *core.Pod) { p.Spec.NodeName = "node-0000" }},
		{"privileged", func(p *core.Pod) {
			yes := true
			p.Spec.Containers[0].SecurityContext = &core.SecurityContext{Privileged: &yes}
		}},
		{"two containers with GPUs", func(p *core.Pod) {
			second := *p.Spec.Containers[0].DeepCopy()
			second.Name, second.Env = "second", nil
			p.Spec.Containers = append(p.Spec.Containers, second)
		}},
	}
)

func makeReviews(seed uint64, n int) []review {
	set := dataset.Set{Pods: n, Nodes: 1, Seed: seed}
	made := make([]review, n)
	for i := range made {
		pod := set.Arriving(i)
		if pod.Annotations == nil {
			pod.Annotations = map[string]string{}
		}
		pod.Annotations[fraction] = shares[i/2%len(shares)]
		pod.Spec.SchedulerName = "default-scheduler"
		pod.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"] = resource.MustParse("1")
		pod.GenerateName, pod.Name = pod.Name+"-", ""
		made[i] = review{what: "tenant", tenant: i%2 == 0}
		if !made[i].tenant {
			other := whole[i/2%len(whole)]
			made[i].what = other.what
			other.do(pod)
		}
		made[i].write(pod)
	}
	return made
}

func (r *review) write(pod *core.Pod) {
	pod.APIVersion, pod.Kind = "v1", "Pod"
	object, err := json.Marshal(pod)
	if err != nil {
		log.Fatal(err)
	}
	kind := map[string]string{"group": "", "version": "v1", "kind": "Pod"}
	resource := map[string]string{"group": "", "version": "v1", "resource": "pods"}
	body, err := json.Marshal(map[string]any{
		"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
		"request": map[string]any{
			"uid": uidHolder, "kind": kind, "resource": resource, "requestKind": kind,
			"requestResource": resource, "namespace": pod.Namespace, "operation": "CREATE",
			"userInfo": map[string]any{
				"username": "system:serviceaccount:kube-system:replicaset-controller",
				"groups":   []string{"system:serviceaccounts", "system:authenticated"}},
			"object": json.RawMessage(object), "oldObject": nil, "dryRun": false,
			"options": map[string]string{"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
		}})
	if err != nil {
		log.Fatal(err)
	}
	r.body, r.podBytes = body, len(object)
	r.uidAt = bytes.Index(body, []byte(uidHolder))
}
