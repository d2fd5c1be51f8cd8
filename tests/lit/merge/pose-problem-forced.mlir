// RUN: syncline-opt %s --pose-problem='forced=fc*=ps' | FileCheck %s --check-prefix=SERVERS
// RUN: syncline-opt %s --pose-problem='forced=*=tree' --solve-merge --check-solutions | FileCheck %s --check-prefix=ALL
// RUN: syncline-opt %s --pose-problem='forced=*=tree,fc?=sfb,fc1=ring' | FileCheck %s --check-prefix=LAST
// RUN: syncline-opt %s --pose-problem='forced=fc*=factors,conv=reduce-scatter' | FileCheck %s --check-prefix=SHARD

// What matches travels in a lane of its scheme alone, and not by factors; the rest has every way it had.
// SERVERS: lanes [#sync.lane<[<ring, {{.*}}>]>, #sync.lane<[<"parameter-server", {{.*}}>, traffic = 3.0>]>] only [2, 2, 1] asked ["fc*=ps"] forward_end

// Where every layer is forced to one scheme, merging alone is left.
// ALL: lanes [#sync.lane<[<tree, {{[^>]*}}>, traffic = 4.0>]>] asked ["*=tree"] forward_end
// ALL: certificate #sync.times

// The last pattern that matches counts; factors take no lane.
// LAST: lanes [#sync.lane<[<ring, {{[^>]*}}>, traffic = 3.0>]>, #sync.lane<[<tree, {{[^>]*}}>, traffic = 4.0>]>] solos [#sync.solo<layer = 0, {{[^>]*}}>] only [0, 1, 2]

// Reduce-scatter is there for who asks for it.
// SHARD: lanes [#sync.lane<[<"reduce-scatter", cost = #cluster.formula<algorithm = "reduce-scatter", {{[^>]*}}>, traffic = 3.0>]>] solos [{{.*}}layer = 0, {{.*}}layer = 1, {{.*}}] only [0, 0, 1]
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <compute = 100.0, launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
    sync.layer "fc1" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
    sync.layer "fc2" bytes 400 forward 1.0 backward 3.0 matmul [20, 5, 8]
  }
}
