// RUN: syncline-opt %s --split-input-file --verify-diagnostics --pose-problem

// Clusters that cannot take what a model must send.

// Nothing but servers, which do not hold every gradient.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>,
    collectives = [<"parameter-server", #cluster.affine<a = 1.0, b = 0.0>>], servers = <count = 2, dedicated = true, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, memory = 800>>} {
  // expected-error@+1 {{servers hold 1600 B, gradients that must go through them are 1700 B}}
  sync.trace @net {
    sync.layer "a" bytes 800 forward 1.0 backward 3.0
    sync.layer "b" bytes 900 forward 1.0 backward 3.0
  }
}

// -----

// A layer that is larger than the largest message and has no factors.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>, largestMessage = 850>} {
  // expected-error@+1 {{layer 'b' has 900 B, the cluster's largest message 850 B}}
  sync.trace @net {
    sync.layer "a" bytes 800 forward 1.0 backward 3.0
    sync.layer "b" bytes 900 forward 1.0 backward 3.0
  }
}

// -----

// A cost of an all-gather takes no gradient that has no factors; that of a reduce-scatter is only for who asks for it.
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, collectives = [<"reduce-scatter", #cluster.affine<a = 1.0, b = 0.0>>]>} {
  // expected-error@+1 {{cluster 'lab': expected a network, an all-reduce or servers, got none}}
  sync.trace @net {
    sync.layer "a" bytes 800 forward 1.0 backward 3.0
  }
}

// -----

// No cluster at all.
// expected-error@+1 {{expected attribute 'cluster.spec' on the module}}
module {
  sync.trace @net {
  }
}

// -----

// Nothing to plan for.
// expected-error@+1 {{expected an 'nn.step' or a 'sync.trace' to plan for}}
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 0.5, gamma = 0.25>>} {
}
