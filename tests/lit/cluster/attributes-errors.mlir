// Each rule of ir/cluster/SPEC.md is enforced, and its number named.
// RUN: syncline-opt %s -split-input-file -verify-diagnostics

// expected-error @+1 {{C1: expected 'ranks' from 1 to 1048576, got 0}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 0, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>} {}

// -----

// expected-error @+1 {{C1: expected 'devicesPerNode' from 1 to 4, got 0}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, devicesPerNode = 0, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>} {}

// -----

// expected-error @+1 {{C1: expected 'devicesPerNode' from 1 to 4, got 8}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, devicesPerNode = 8, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>} {}

// -----

// expected-error @+1 {{C2: expected 'compute' finite and above zero, got 0.0}}
#bad = #cluster.device<compute = 0.0, launchOverhead = 0.0>

// -----

// expected-error @+1 {{C2: expected 'launchOverhead' finite and not negative, got -1.0}}
#bad = #cluster.device<launchOverhead = -1.0>

// -----

// expected-error @+1 {{C16: expected 'like' as pytorch, pytorch-nchw, compiled or best, got 'tensorflow'}}
#bad = #cluster.kernels<like = "tensorflow", numbers = {}>

// -----

// expected-error @+1 {{C16: expected 'fp32' as an f64 that is finite and not negative, got -1.000000e+00}}
#bad = #cluster.kernels<like = "best", numbers = {fp32 = -1.0 : f64}>

// -----

// expected-error @+1 {{C16: expected 'fp32' as an f64 that is finite and not negative, got 1}}
#bad = #cluster.kernels<like = "best", numbers = {fp32 = 1 : i64}>

// -----

// expected-error @+1 {{C17: expected 'simple' finite and not negative, got -1.0}}
#bad = #cluster.protocols<ll = 1.0, llShare = 0.1, ll128 = 1.0, ll128Share = 0.5, simple = -1.0, simpleShare = 0.8>

// -----

// expected-error @+1 {{C17: expected 'llShare' finite and above zero, got 0.0}}
#bad = #cluster.protocols<ll = 1.0, llShare = 0.0, ll128 = 1.0, ll128Share = 0.5, simple = 1.0, simpleShare = 0.8>

// -----

// expected-error @+1 {{C17: expected both 'inSwitch' and 'inSwitchShare' or neither, got one}}
#bad = #cluster.protocols<ll = 1.0, llShare = 0.1, ll128 = 1.0, ll128Share = 0.5, simple = 1.0, simpleShare = 0.8, inSwitch = 1.0>

// -----

// expected-error @+1 {{C1: expected 'groups' from 1 to 1048576, got 0}}
#bad = #cluster.spec<name = "n", ranks = 2, groups = 0, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>

// -----

// expected-error @+1 {{C3: expected 'algorithm' ring, recursive-doubling, halving-doubling, tree or reduce-scatter, got hierarchical}}
#bad = #cluster.formula<algorithm = hierarchical, ranks = 4, alpha = 0.0, beta = 0.0, gamma = 0.0>

// -----

// expected-error @+1 {{C3: expected 'ranks' from 1 to 1048576, got -4}}
#bad = #cluster.formula<algorithm = ring, ranks = -4, alpha = 0.0, beta = 0.0, gamma = 0.0>

// -----

// expected-error @+1 {{C3: expected 'beta' finite and not negative, got -8.0e-10}}
#bad = #cluster.formula<algorithm = ring, ranks = 1, alpha = 0.0, beta = -8.0e-10, gamma = 0.0>

// -----

// expected-error @+1 {{C4: expected 'a' finite and not negative, got inf}}
#bad = #cluster.affine<a = 1.0e999, b = 1.0>

// -----

// expected-error @+1 {{C5: expected sizes from zero in ascending order, got 1024 after 4096}}
#bad = #cluster.table<[4096, 1.0], [1024, 2.0]>

// -----

// expected-error @+1 {{C5: expected 'seconds' finite and not negative, got -1.0}}
#bad = #cluster.table<[4096, -1.0]>

// -----

// expected-error @+1 {{C6: expected one cost of 'ring', got two}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 8, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 1.0>>, <tree, #cluster.affine<a = 1.0, b = 1.0>>, <ring, #cluster.affine<a = 1.0, b = 1.0>>]>} {}

// -----

// expected-error @+1 {{C6: expected a formula for 8 ranks, got one for 4}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 8, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.formula<algorithm = ring, ranks = 4, alpha = 0.0, beta = 0.0, gamma = 0.0>>]>} {}

// -----

// expected-error @+1 {{C7: expected 'cluster.spec' = #cluster.spec, 'cluster.profile' = a dictionary of #cluster.times, 'cluster.update' or 'cluster.overhead' = an f64 of seconds, 'cluster.scatter' = as many factors of every rank, 'cluster.message_scatter' = factors of messages, 'cluster.provenance' = a dictionary of device, efficiency, profile and threads, or 'cluster.wire' = fp32, bf16 or fp16, got 'cluster.speck' = 1 : i64}}
module attributes {cluster.speck = 1 : i64} {}

// -----

// expected-error @+1 {{C7: expected 'cluster.spec' = #cluster.spec, 'cluster.profile' = a dictionary of #cluster.times, 'cluster.update' or 'cluster.overhead' = an f64 of seconds, 'cluster.scatter' = as many factors of every rank, 'cluster.message_scatter' = factors of messages, 'cluster.provenance' = a dictionary of device, efficiency, profile and threads, or 'cluster.wire' = fp32, bf16 or fp16, got 'cluster.profile' = {fc = 1.000000e+00 : f64}}}
module attributes {cluster.profile = {fc = 1.0}} {}

// -----

// C7: kernels that reach more than there is
// expected-error @+1 {{got 'cluster.provenance' = {efficiency = 1.500000e+00 : f64}}}
module attributes {cluster.provenance = {efficiency = 1.5 : f64}} {
}

// -----

// C7: nobody computes
// expected-error @+1 {{got 'cluster.provenance' = {threads = 0 : i64}}}
module attributes {cluster.provenance = {threads = 0 : i64}} {
}

// -----

// C7: a source that nobody knows
// expected-error @+1 {{got 'cluster.provenance' = {oracle = "x"}}}
module attributes {cluster.provenance = {oracle = "x"}} {
}

// -----

// C7: less than no time
// expected-error @+1 {{got 'cluster.overhead' = -1.000000e+00 : f64}}
module attributes {cluster.overhead = -1.0 : f64} {
}

// -----

// C7: a type in which nothing travels
// expected-error @+1 {{got 'cluster.wire' = "fp8"}}
module attributes {cluster.wire = "fp8"} {
}

// -----

// C7g: two ranks with one step and two
// expected-error @+1 {{got 'cluster.scatter' = }}
module attributes {cluster.scatter = [[1.0], [1.0, 1.5]]} {
}

// -----

// C7g: no step
// expected-error @+1 {{got 'cluster.scatter' = }}
module attributes {cluster.scatter = [[]]} {
}

// -----

// C7g: a step that takes no time
// expected-error @+1 {{got 'cluster.scatter' = }}
module attributes {cluster.scatter = [[1.0, 0.0]]} {
}

// -----

// C7g: not a number
// expected-error @+1 {{got 'cluster.scatter' = }}
module attributes {cluster.scatter = [[0x7FF8000000000000 : f64]]} {
}

// -----

// C7h: no message
// expected-error @+1 {{got 'cluster.message_scatter' = []}}
module attributes {cluster.message_scatter = []} {
}

// -----

// C7h: a message that takes no time
// expected-error @+1 {{got 'cluster.message_scatter' = [1.000000e+00, 0.000000e+00]}}
module attributes {cluster.message_scatter = [1.0, 0.0]} {
}

// -----

// C7h: not a number
// expected-error @+1 {{got 'cluster.message_scatter' = }}
module attributes {cluster.message_scatter = [0x7FF8000000000000 : f64]} {
}

// -----

// C7h: a message that never ends
// expected-error @+1 {{got 'cluster.message_scatter' = }}
module attributes {cluster.message_scatter = [1.0, 1.0e7]} {
}

// -----

// C7h: one number and no list
// expected-error @+1 {{got 'cluster.message_scatter' = 1.000000e+00 : f64}}
module attributes {cluster.message_scatter = 1.0} {
}

// -----

// expected-error @+1 {{got 'cluster.update' = -1.000000e+00 : f64}}
module attributes {cluster.update = -1.0 : f64} {
}

// -----

module {
  // expected-error @+1 {{C7: expected 'cluster.spec' on a module, got it here}}
  nn.step @s batch 1 attributes {cluster.spec = 1 : i64} {}
}

// -----

// expected-error @+1 {{C8: expected 'backward' finite and not negative, got -1.0}}
module attributes {cluster.profile = {fc = #cluster.times<forward = 1.0, backward = -1.0>}} {}

// -----

// expected-error @+1 {{C9: expected 'beta' finite and above zero, got 0.0}}
#bad = #cluster.link<alpha = 0.0, beta = 0.0, gamma = 0.0>

// -----

// expected-error @+1 {{C9: expected 'beta' finite and above zero, got inf}}
#bad = #cluster.link<alpha = 0.0, beta = 1.0e999, gamma = 0.0>

// -----

// expected-error @+1 {{C9: expected 'alpha' finite and not negative, got -1.0}}
#bad = #cluster.link<alpha = -1.0, beta = 1.0, gamma = 0.0>

// -----

// expected-error @+1 {{C9: expected 'gamma' finite and not negative, got -1.0}}
#bad = #cluster.link<alpha = 0.0, beta = 1.0, gamma = -1.0>

// -----

// expected-error @+1 {{C10: expected 'count' from 1 to 1048576, got 0}}
#bad = #cluster.servers<count = 0, dedicated = true, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>

// -----

// expected-error @+1 {{C10: expected 'memory' of at least one byte, got 0}}
#bad = #cluster.servers<count = 1, dedicated = true, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, memory = 0>

// -----

// expected-error @+1 {{C10: expected at most one colocated server a rank, got 5 for 4 ranks}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, servers = <count = 5, dedicated = false, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>>} {}

// -----

// expected-error @+1 {{C11: expected no cost of 'sparse', whose all-gather costs what that of 'factors' does}}
#bad = #cluster.collective<sparse, #cluster.affine<a = 1.0, b = 1.0>>

// -----

// expected-error @+1 {{C11: expected the cost of 'factors' to be #cluster.formula, #cluster.affine or #cluster.table, got 3 : i64}}
#bad = #cluster.collective<factors, 3 : i64>

// -----

// expected-error @+1 {{C11: expected the cost of 'tree', got the formula of 'ring'}}
#bad = #cluster.collective<tree, #cluster.formula<algorithm = ring, ranks = 4, alpha = 0.0, beta = 0.0, gamma = 0.0>>

// -----

// expected-error @+1 {{C12: expected 'largestMessage' of at least one byte, got 0}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, largestMessage = 0>} {}

// -----

// expected-error @+1 {{C13: expected a 'link' or the cost of a collective that takes every gradient, got neither}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>>} {}

// -----

// expected-error @+1 {{C13: expected a 'link' or the cost of a collective that takes every gradient, got neither}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, collectives = [<factors, #cluster.affine<a = 1.0, b = 1.0>>]>} {}

// -----

// expected-error @+1 {{C1: expected 'cardsPerNode' from 1 to 1048576, got 0}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, devicesPerNode = 2, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, cardsPerNode = 0>} {}

// -----

// expected-error @+1 {{C2: expected 'memorySize' of at least one byte, got 0}}
#bad = #cluster.device<launchOverhead = 0.0, memorySize = 0>

// -----

// expected-error @+1 {{C14: expected at least one node, got none}}
#bad = #cluster.override<nodes = []>

// -----

// expected-error @+1 {{C14: expected nodes from zero in ascending order, got 1 after 3}}
#bad = #cluster.override<nodes = [3, 1]>

// -----

// expected-error @+1 {{C14: expected nodes from zero in ascending order, got -1 after -1}}
#bad = #cluster.override<nodes = [-1]>

// -----

// expected-error @+1 {{C14: expected 'slowdown' finite and above zero, got 0.0}}
#bad = #cluster.override<nodes = [0], slowdown = 0.0>

// -----

// expected-error @+1 {{C14: expected nodes below 2, got 2}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, devicesPerNode = 2, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, overrides = [<nodes = [0, 2], slowdown = 2.0>]>} {}

// -----

// expected-error @+1 {{C14: expected every node in one override, got node 1 in two}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, devicesPerNode = 2, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, overrides = [<nodes = [0, 1], slowdown = 2.0>, <nodes = [1], slowdown = 3.0>]>} {}

// -----

// expected-error @+1 {{C14: expected the spec to have a 'link' where an override has, got none}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, devicesPerNode = 2, device = <launchOverhead = 0.0>, collectives = [<ring, #cluster.affine<a = 1.0, b = 1.0>>], overrides = [<nodes = [1], link = <alpha = 0.0, beta = 1.0, gamma = 0.0>>]>} {}

// -----

// expected-error @+1 {{C15: expected 'interference' from 1 to 1000.0, got 0.99}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, interference = 0.99>} {}

// -----

// expected-error @+1 {{C15: expected 'interference' from 1 to 1000.0, got 1000.5}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, interference = 1000.5>} {}

// -----

// expected-error @+1 {{C15: expected 'interference' from 1 to 1000.0, got 0.5}}
#bad = #cluster.collective<ring, #cluster.affine<a = 1.0, b = 1.0>, interference = 0.5>

// -----

// expected-error @+1 {{C15: expected 'latencyInterference' from 1 to 1000.0, got 0.5}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, latencyInterference = 0.5>} {}

// -----

// expected-error @+1 {{C15: expected 'memoryInterference' from 1 to 1000.0, got 0.5}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, memoryInterference = 0.5>} {}

// -----

// expected-error @+1 {{C15: expected 'products' from 1 to 1000.0, got 0.5}}
#bad = #cluster.collective<ring, #cluster.affine<a = 1.0, b = 1.0>, products = 0.5>

// -----

// expected-error @+1 {{C15: expected 'messageInterference' from 1 to 1000.0, got 0.5}}
module attributes {cluster.spec = #cluster.spec<name = "a", ranks = 4, device = <launchOverhead = 0.0>, link = <alpha = 0.0, beta = 1.0, gamma = 0.0>, messageInterference = 0.5>} {}

// -----

// As many ranks as an int holds, which no cluster file may have.
// expected-error @+1 {{C3: expected 'ranks' from 1 to 1048576, got 2147483647}}
module attributes {test.cost = #cluster.formula<algorithm = ring, ranks = 2147483647, alpha = 0.0, beta = 1.0, gamma = 0.0>} {}
