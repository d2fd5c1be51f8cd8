// Where weights travel in place of gradients, NCCL is told of fragments alone.
// RUN: syncline-translate --plan-to-nccl-tuner %s | FileCheck %s --match-full-lines

//      CHECK:collective,min_bytes,max_bytes,algorithm,protocol,channels,nodes,ranks
// CHECK-NEXT:allreduce,64,64,tree,,-1,-1,2
// CHECK-NEXT:allreduce,128,128,ring,,-1,-1,2
// CHECK-NEXT:clash of 0 by tree and 2 by ring, 64 bytes
module attributes {cluster.spec = #cluster.spec<name = "lab", ranks = 2, device = <launchOverhead = 0.0>, link = <alpha = 1.0, beta = 1.0, gamma = 0.0>, nccl = true>} {
  plan.program @p ranks 2 batch 4 spaces {input = 64 : i64, target = 64 : i64, parameters = 256 : i64, gradients = 256 : i64, state = 64 : i64, arena = 64 : i64} attributes {consistency = #sync.consistency<diloco, period = 9, fragments = 3, delay = 1, mix = 0.5, rate = 0.7, momentum = 0.9>} {
    plan.bucket 0 members ["a", "b", "c"] by ring channel 0 at 0 extent 256 bytes 256
    plan.exchange 0 members ["a"] by tree at 0 extent 64 bytes 64 start 2 wait 3 seconds 0.0 traffic 0.0
    plan.exchange 1 members ["b"] by ring at 64 extent 128 bytes 128 start 5 wait 6 seconds 0.0 traffic 0.0
    plan.exchange 2 members ["c"] by ring at 192 extent 64 bytes 64 start 8 wait 9 seconds 0.0 traffic 0.0
  }
}
