// Schemes that NCCL has not: requested by name, and the only ones that a cluster states; problems that offer them all the same.
// RUN: not syncline-opt %s --pose-problem='requested=conv=halving-doubling' 2>&1 | FileCheck %s --check-prefix=ASKED
// RUN: not syncline-opt %s --pose-problem='requested=conv=hierarchical' 2>&1 | FileCheck %s --check-prefix=STATED
// RUN: not syncline-opt %s --pose-problem='requested=conv=tree' 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: not syncline-opt %s --pose-problem='requested=conv=library' 2>&1 | FileCheck %s --check-prefix=UNMEASURED
// RUN: sed -e 's/, nccl = true//' -e 's/<hierarchical, /<library, /' %s > %t.cpus
// RUN: not syncline-opt %t.cpus --pose-problem='requested=conv=library' 2>&1 | FileCheck %s --check-prefix=CPUS
// RUN: sed -e 's/<ring, #cluster.affine<a = 1.0, b = 0.0>>, //' %t.cpus > %t.alone
// RUN: not syncline-opt %t.alone --pose-problem 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: sed -e 's/<ring, #cluster.affine<a = 1.0, b = 0.0>>, //' %s > %t
// RUN: not syncline-opt %t --pose-problem 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: sed -e 's/nccl = /servers = <count = 2, dedicated = true, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>, nccl = /' %s > %t.servers
// RUN: not syncline-opt %t.servers --pose-problem='requested=conv=ps' 2>&1 | FileCheck %s --check-prefix=SERVERS
// RUN: not syncline-opt %t.servers --pose-problem --solve-merge=planner=ps 2>&1 | FileCheck %s --check-prefix=PLANNER
// RUN: sed -e 's/collectives = .*/collectives = [<"parameter-server", #cluster.affine<a = 1.0, b = 0.0>>],/' -e 's/link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, nccl/nccl/' -e 's/    nccl = /    servers = <count = 2, dedicated = true, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>, nccl = /' %s > %t.only
// RUN: not syncline-opt %t.only --pose-problem 2>&1 | FileCheck %s --check-prefix=ONLY
// RUN: syncline-opt %s --pose-problem --solve-merge --check-solutions > %t
// RUN: sed -e 's/\[<ring, cost/[<hierarchical, cost = #cluster.affine<a = 2.0, b = 0.0>, traffic = 3.0>, <ring, cost/' %t > %t.more
// RUN: not syncline-opt %t.more --check-solutions 2>&1 | FileCheck %s --check-prefix=MORE

// ASKED: layer 'conv' cannot travel by 'halving-doubling': NCCL, which carries the messages, has ring, tree, library, parameter-server, reduce-scatter, factors and sparse only
// STATED: layer 'conv' cannot travel by 'hierarchical': NCCL, which
// UNMEASURED: layer 'conv' cannot travel by 'library': the cluster file states no time of what NCCL chooses, which 'syncline calibrate --backend cuda' measures
// CPUS: layer 'conv' cannot travel by 'library': it is the algorithm that NCCL chooses, and NCCL carries messages with '--backend cuda' only
// ALONE: cluster 'lab' states no all-reduce beside 'library', which NCCL alone has ('--backend cuda')
// OTHER: layer 'conv' cannot travel by 'tree': the cluster does not offer it
// NONE: cluster 'lab' states no all-reduce that NCCL has: expected ring, tree or library, got hierarchical
// SERVERS: layer 'conv' cannot travel by 'parameter-server': NCCL, which carries the messages, knows no dedicated servers
// PLANNER: planner 'ps': needs parameter servers, which this cluster does not offer
// ONLY: cluster 'lab': expected a network, an all-reduce or servers, got dedicated servers, which NCCL's messages do not go through
// MORE: S14: merge class 0 is not what the cluster offers
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
    collectives = [<ring, #cluster.affine<a = 1.0, b = 0.0>>, <hierarchical, #cluster.affine<a = 2.0, b = 0.0>>],
    link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, nccl = true>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
  }
}
