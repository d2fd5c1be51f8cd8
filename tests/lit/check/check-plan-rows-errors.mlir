// Plans that break P34: the rows of an embedding's gradient.
// RUN: syncline-opt --check-plan --split-input-file --verify-diagnostics %patched

// Base: The rows of an embedding's gradient travel.
plan.program @p ranks 2 batch 2 spaces {input = 128 : i64, target = 64 : i64, parameters = 192 : i64, gradients = 192 : i64, state = 64 : i64, arena = 320 : i64} {
  %ids = plan.tensor "ids" in input at 0 reserve 64 : memref<2x2xi64>
  %dy = plan.tensor "dy" in input at 64 reserve 64 : memref<2x2x4xf32>
  %w = plan.tensor "w" in parameters at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %dw = plan.tensor "w" in gradients at 0 reserve 192 {bucket = 0 : i64} : memref<12x4xf32>
  %all = plan.tensor "ids.gathered" in arena at 0 reserve 64 live [0, 9] : memref<4x2xi64>
  %dys = plan.tensor "dy.gathered" in arena at 64 reserve 128 live [0, 9] : memref<4x2x4xf32>
  %r = plan.tensor "r" in arena at 192 reserve 128 live [0, 9] : memref<4x2x4xf32>
  plan.bucket 0 members ["w"] by sparse channel 0 at 0 extent 192 bytes 192 {rows = 4 : i64}
  plan.gather 0 ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>)
  plan.wait 0
  plan.call embeddingBackward "w" ["ids", "dy", "dtable"] ins(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) outs(%dw : memref<12x4xf32>)
  plan.update 0
}

// -----

// P34: more rows than stated.
change plan.bucket 0 | rows = 4 => rows = 3
note declared here
error plan.gather 0 | P34: expected 3 rows of each rank, as the bucket states, got 4 numbers of rows for 'dy'

// -----

// P34: fewer rows than stated.
change plan.bucket 0 | rows = 4 => rows = 5
note declared here
error plan.gather 0 | P34: expected 5 rows of each rank, as the bucket states, got 4 numbers of rows for 'dy'

// -----

// P34: the rows are stated.
drop plan.bucket 0 | {rows = 4 : i64}
error P34: expected 'rows', the rows of a rank, exactly if it travels by 'sparse'

// -----

// P34: what travels otherwise has no rows.
change plan.bucket 0 | sparse => factors
error P34: expected 'rows', the rows of a rank, exactly if it travels by 'sparse'

// -----

// P34: numbers stand before the rows that they name.
change plan.gather 0 | ins(%ids, %dy : memref<2x2xi64>, memref<2x2x4xf32>) outs(%all, %dys : memref<4x2xi64>, memref<4x2x4xf32>) => ins(%dy, %ids : memref<2x2x4xf32>, memref<2x2xi64>) outs(%dys, %all : memref<4x2x4xf32>, memref<4x2xi64>)
error P34: expected the numbers of rows as i64, and behind them the rows as f32
note plan.bucket 0 | declared here

// -----

// P34: the rows are added as they came.
change embeddingBackward "w" | %dys => %r
after plan.wait 0 | plan.call reshape "r" ["x", "y"] ins(%dys : memref<4x2x4xf32>) outs(%r : memref<4x2x4xf32>)
error embeddingBackward "w" | P34: adds up other rows than bucket 0 brings
note plan.gather 0 | gathered here

// -----

// P34: nothing else makes the gradient.
drop embeddingBackward "w"
after plan.wait 0 | plan.call slice "w" ["x", "y"] ins(%dys : memref<4x2x4xf32>) outs(%dw : memref<12x4xf32>)
error plan.gather 0 | P34: expected one 'embeddingBackward' of what is gathered, got 0
note plan.bucket 0 | declared here
