// Plans that break P35: gradients in two parts.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %s

// This one is right.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.update 0
}

// -----

// P35: rows of a gradient that does not exist.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P35: brings 'v:rows', but there is no such gradient}}
  plan.bucket 1 members ["v:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.update 0
}

// -----

// P35: rows by another scheme.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P35: expected rows to travel alone, by 'sparse'}}
  plan.bucket 1 members ["w:rows"] by ring channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.issue 1
  plan.wait 0
  plan.wait 1
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.update 0
}

// -----

// P35: other bytes than a rank gathers.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P35: expected no extent, and the 96 B that a rank gathers, got an extent of 0 and 95 B}}
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 95 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.update 0
}

// -----

// P35: an update of its own.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  // expected-note @+1 {{declared here}}
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.update 0
  // expected-error @+1 {{P35: updates bucket 1, whose rows are part of another bucket's update}}
  plan.update 1
}

// -----

// P35: rows that nobody adds.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  // expected-note @+1 {{this gradient}}
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  // expected-error @+1 {{P35: no loop adds the rows to 'w'}}
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  plan.update 0
}

// -----

// P35: added before the rows have arrived.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  // expected-error @+1 {{P35: adds rows to 'w' before bucket 1 has arrived}}
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  // expected-note @+1 {{waited for here}}
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  plan.update 0
}

// -----

// P35: added behind the update.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  // expected-note @+1 {{updated here}}
  plan.update 0
  // expected-error @+1 {{P35: adds rows to 'w' behind its update}}
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
}

// -----

// P35: another function than the sum.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  // expected-note @+1 {{which brings the rows}}
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  // expected-error @+1 {{P35: expected the sum of 'w' and rows}}
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.mulf %a, %b : f32
    plan.yield %s : f32
  }
  plan.update 0
}

// -----

// P35: something else than the rows.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.issue 0
  // expected-note @+1 {{gathered here}}
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  // expected-error @+1 {{P35: adds 'head' to 'w', which are not the sums of the rows that bucket 1 brings}}
  plan.pointwise "w" ins(%dw, %head : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.update 0
}

// -----

// P7: rows that are added twice.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 576 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  plan.bucket 0 members ["w"] by ring channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%dw : memref<12x4xf32>)
  // expected-error @+1 {{P7: issues bucket 0 before 'w' is complete}}
  plan.issue 0
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  // expected-note @+1 {{written here}}
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  plan.update 0
}

// -----

// P35: written behind the sum, by factors.
plan.program @p ranks 2 batch 2 spaces {input = 192 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 1024 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %x = plan.tensor "x" in target at 0 reserve 64 : memref<2x4xf32>
  %y = plan.tensor "y" in input at 128 reserve 64 : memref<2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %sums = plan.tensor "sums" in arena at 192 reserve 192 live [0, 9] : memref<12x4xf32>
  %head = plan.tensor "head" in arena at 384 reserve 192 live [0, 9] : memref<12x4xf32>
  %left = plan.tensor "a" in arena at 576 reserve 128 live [0, 9] : memref<2x12xf32>
  %as = plan.tensor "a.gathered" in arena at 704 reserve 192 live [0, 9] : memref<4x12xf32>
  %ys = plan.tensor "y.gathered" in arena at 896 reserve 64 live [0, 9] : memref<4x4xf32>
  plan.bucket 0 members ["w"] by factors channel 0 at 0 extent 192 bytes 192 ready 0.0 start 0.0 end 1.0
  plan.bucket 1 members ["w:rows"] by sparse channel 0 at 192 extent 0 bytes 96 ready 0.0 start 1.0 end 2.0 {rows = 4 : i64}
  plan.call sliceBackward "head" ["dy", "dx"] ins(%y : memref<2x4xf32>) outs(%left : memref<2x12xf32>)
  plan.gather 0 ins(%left, %y : memref<2x12xf32>, memref<2x4xf32>) outs(%as, %ys : memref<4x12xf32>, memref<4x4xf32>)
  plan.gather 1 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.call matmul "head" ["a", "b", "y"] ins(%as, %ys : memref<4x12xf32>, memref<4x4xf32>) outs(%dw : memref<12x4xf32>) {transpose_a}
  plan.wait 1
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%sums : memref<12x4xf32>)
  // expected-note @+1 {{this one}}
  plan.pointwise "w" ins(%dw, %sums : memref<12x4xf32>, memref<12x4xf32>) outs(%dw : memref<12x4xf32>) attributes {flat} {
  ^bb0(%a: f32, %b: f32):
    %s = arith.addf %a, %b : f32
    plan.yield %s : f32
  }
  // expected-error @+1 {{P35: writes 'w' behind the sum with its rows}}
  plan.call matmul "head" ["a", "b", "y"] ins(%as, %ys : memref<4x12xf32>, memref<4x4xf32>) outs(%dw : memref<12x4xf32>) {transpose_a}
  plan.update 0
}
