// How NCCL is to send a plan's messages, and buckets that it cannot tell apart.
// RUN: syncline-translate --plan-to-nccl-tuner %s | FileCheck %s --match-full-lines --strict-whitespace
// RUN: sed -e 's/, nccl = true//' %s | not syncline-translate --plan-to-nccl-tuner 2>&1 | FileCheck %s --check-prefix=NONE

// One row a size of all-reduces, in the order of the buckets; one for all reduce-scatters, one for all gathers; none for servers, nor for what NCCL chooses. The ring of 128 bytes in halves does not clash with the tree.
//      CHECK:# NCCL's algorithm, protocol and channels for each message of this plan, by its bytes as fp32; the first row that fits counts
// CHECK-NEXT:collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks
// CHECK-NEXT:allreduce,128,128,tree,,-1,-1,8
// CHECK-NEXT:allreduce,64,64,ring,,-1,-1,8
// CHECK-NEXT:reducescatter,0,-1,ring,,-1,-1,8
// CHECK-NEXT:allgather,0,-1,ring,,-1,-1,8
// CHECK-NEXT:clash of 1 by ring and 6 by tree, 64 bytes
// CHECK-NEXT:clash of 9 by library and 10 by ring, 192 bytes
// CHECK-NEXT:clash of 1 by ring and 11 by library, 64 bytes

// NONE: expected a cluster with 'nccl'
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 8, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, nccl = true>} {
  plan.program @p ranks 8 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 64 : i64, gradients = 1152 : i64, state = 64 : i64, arena = 64 : i64} {
    plan.bucket 0 members ["a"] by tree channel 0 at 0 extent 128 bytes 100
    plan.bucket 1 members ["b"] by ring channel 0 at 128 extent 64 bytes 60
    plan.bucket 2 members ["c"] by ring channel 0 at 192 extent 64 bytes 64
    plan.bucket 3 members ["d"] by factors channel 0 at 256 extent 64 bytes 64
    plan.bucket 4 members ["e"] by "reduce-scatter" channel 0 at 320 extent 64 bytes 64
    plan.bucket 5 members ["f"] by "parameter-server" channel 0 at 384 extent 64 bytes 64
    plan.bucket 6 members ["g"] by tree channel 0 at 448 extent 64 bytes 64
    plan.bucket 7 members ["h"] by factors channel 0 at 512 extent 64 bytes 64
    plan.bucket 8 members ["i"] by ring channel 0 at 576 extent 128 bytes 128 {halved}
    plan.bucket 9 members ["j"] by library channel 0 at 704 extent 192 bytes 192
    plan.bucket 10 members ["k"] by ring channel 0 at 896 extent 192 bytes 192
    plan.bucket 11 members ["l"] by library channel 0 at 1088 extent 64 bytes 64
  }
}
