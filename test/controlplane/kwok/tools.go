//go:build tools

// Package tools pins kwok, which plays thousands of nodes in the benches.
package tools

import _ "sigs.k8s.io/kwok/cmd/kwok"
