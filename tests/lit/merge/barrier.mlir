// RUN: syncline-opt %s --barrier="phase=fuse illegal=nn.unary,nn.binary" --verify-diagnostics

// What a phase should have removed is named at its place.
nn.step @left batch 1 {
  %x = nn.input "x" : tensor<4xf32>
  // expected-error@+1 {{'nn.unary' is left after phase 'fuse'}}
  %y = nn.unary relu %x : tensor<4xf32>
}
