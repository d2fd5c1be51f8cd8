// Rule S23 of ir/sync/SPEC.md: the samples of a rank in the step that a trace was read off.
// RUN: syncline-opt --split-input-file --verify-diagnostics %patched

// Base: A trace.
sync.trace @net {
  sync.layer "fc" bytes 64 forward 1.0 backward 2.0
}

// -----

// Valid: the samples of a rank in the step that the trace was read off.
change sync.trace @net => sync.trace @net attributes {of_step, sync.samples = 2 : i64}

// -----

// S23: no samples.
change sync.trace @net => sync.trace @net attributes {of_step, sync.samples = 0 : i64}
error sync.trace | S23: expected 'sync.samples' on a trace that is of a step, an i64 of at least 1

// -----

// S23: samples of a trace that was not read off a step.
change sync.trace @net => sync.trace @net attributes {sync.samples = 2 : i64}
error sync.trace | S23: expected 'sync.samples' on a trace that is of a step, an i64 of at least 1

// -----

// S23: samples of a layer.
change backward 2.0 => backward 2.0 {sync.samples = 2 : i64}
error sync.layer | S23: expected 'sync.samples' on a trace that is of a step, an i64 of at least 1
