//go:build tools

// Package tools pins the etcd server that the control plane suite builds and runs.
package tools

import _ "go.etcd.io/etcd/server/v3"
