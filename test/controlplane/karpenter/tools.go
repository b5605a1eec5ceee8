//go:build tools

// Package tools pins Karpenter, which makes and removes nodes in the end-to-end tests.
package tools

import _ "sigs.k8s.io/karpenter/kwok"
