// RUN: syncline-opt %s --pose-problem='requested=fc*=ps' | FileCheck %s --check-prefix=SERVERS
// RUN: syncline-opt %s --pose-problem='requested=*=tree' --solve-merge --check-solutions | FileCheck %s --check-prefix=ALL
// RUN: syncline-opt %s --pose-problem='requested=*=tree,fc?=sfb,fc1=ring' | FileCheck %s --check-prefix=LAST
// RUN: syncline-opt %s --pose-problem='requested=fc*=factors,conv=reduce-scatter' | FileCheck %s --check-prefix=SHARD

// What matches travels in a merge class of its scheme alone, and not by factors; the rest has every way it had.
// SERVERS: merge_classes [#sync.merge_class<[<ring, {{.*}}>]>, #sync.merge_class<[<"parameter-server", {{.*}}>, traffic = 3.0>]>] only [2, 2, 1] requested ["fc*=ps"] forward_end

// Where every layer is requested to travel by one scheme, merging alone is left.
// ALL: merge_classes [#sync.merge_class<[<tree, {{[^>]*}}>, traffic = 4.0>]>] requested ["*=tree"] forward_end
// ALL: certificate #sync.times

// The last pattern that matches counts; factors take no merge class.
// LAST: merge_classes [#sync.merge_class<[<ring, {{[^>]*}}>, traffic = 3.0>]>, #sync.merge_class<[<tree, {{[^>]*}}>, traffic = 4.0>]>] factor_options [#sync.factor_option<layer = 0, {{[^>]*}}>] only [0, 1, 2]

// Reduce-scatter is there for who asks for it.
// SHARD: merge_classes [#sync.merge_class<[<"reduce-scatter", cost = #cluster.formula<algorithm = "reduce-scatter", {{[^>]*}}>, traffic = 3.0>]>] factor_options [{{.*}}layer = 0, {{.*}}layer = 1, {{.*}}] only [0, 0, 1]
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <compute = 100.0, launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
  sync.trace @net {
    sync.layer "conv" bytes 800 forward 1.0 backward 3.0
    sync.layer "fc1" bytes 800 forward 1.0 backward 3.0 matmul [10, 20, 8]
    sync.layer "fc2" bytes 400 forward 1.0 backward 3.0 matmul [20, 5, 8]
  }
}
