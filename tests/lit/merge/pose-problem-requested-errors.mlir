// RUN: not syncline-opt %s --pose-problem='requested=fc9*=ps' 2>&1 | FileCheck %s --check-prefix=NOBODY
// RUN: not syncline-opt %s --pose-problem='requested=conv=factors' 2>&1 | FileCheck %s --check-prefix=NOFACTORS
// RUN: not syncline-opt %s --pose-problem='requested=conv=tree' 2>&1 | FileCheck %s --check-prefix=NOTOFFERED
// RUN: not syncline-opt %s --pose-problem='requested=fc=factors' 2>&1 | FileCheck %s --check-prefix=NOGATHER
// RUN: not syncline-opt %s --pose-problem='requested=*=ps' 2>&1 | FileCheck %s --check-prefix=MEMORY
// RUN: not syncline-opt %s --pose-problem='requested=a=ring,b=hierarchical,conv=ps' 2>&1 | FileCheck %s --check-prefix=LANES
// RUN: not syncline-opt %s --pose-problem='requested=conv=fast' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not syncline-opt %s --pose-problem='requested=conv' 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not syncline-opt %s --pose-problem='requested=[' 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not syncline-opt %s --pose-problem='requested=conv={ps' 2>&1 | FileCheck %s --check-prefix=OPEN

// Schemes requested by name that cannot be had, each with layer, scheme and reason. Stated costs are all that this cluster offers; its
// servers do not hold every gradient, so they are a merge class of their own.

// NOBODY: no layer matches 'fc9*', which shall travel by 'parameter-server'
// NOFACTORS: layer 'conv' cannot travel by 'factors': the cluster has neither a network nor the cost of an all-gather
// NOTOFFERED: layer 'conv' cannot travel by 'tree': the cluster does not offer it
// NOGATHER: layer 'fc' cannot travel by 'factors': the cluster has neither
// MEMORY: servers hold 2000 B, gradients that must go through them are 3200 B
// LANES: expected schemes requested by name that make at most 3 merge classes, one a scheme besides what all other layers share, got 4
// NAME: unknown scheme 'fast' for 'conv', expected one of 'ring', 'recursive-doubling', 'halving-doubling', 'tree', 'reduce-scatter', 'hierarchical', 'parameter-server', 'factors', 'sparse', 'library', 'ps', 'sfb'
// OPEN: syncline-opt: error: a bracket or a quote is not closed in '--pose-problem=requested=
// FORM: expected LAYERS=SCHEME, as in 'fc*=factors', got 'conv'
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
    collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>, <hierarchical, #cluster.affine<a = 2.0, b = 0.0>>],
    servers = <count = 2, dedicated = true, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, memory = 1000>>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
    sync.layer "a" bytes 800 forward 1.0 backward 3.0
    sync.layer "b" bytes 800 forward 1.0 backward 3.0
    sync.layer "fc" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
  }
}
