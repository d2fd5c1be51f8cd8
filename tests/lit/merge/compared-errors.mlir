// Rules S21 and S22 of ir/sync/SPEC.md: what a prediction says of disturbed steps and of its range.
// RUN: syncline-opt --split-input-file --verify-diagnostics %patched

// Base: A prediction of one message.
sync.prediction of @p ready <[1.0]> start <[1.0]> end <[2.0]> reconstructed <[2.0]> exposed <[0.0]>
  forward_end 0.5 backward_end 1.0 communication_end 2.0 reconstruction_end 2.0 updates 0.0 step 2.0

// -----

// Valid: Disturbed steps.
change step 2.0 => step 2.0 {sync.disturbed = [{crosses = true, high = 2.0 : f64, low = 1.0 : f64, mean = 1.5 : f64, planner = "p"}]}

// -----

// S21: no plan.
change step 2.0 => step 2.0 {sync.disturbed = []}
error sync.prediction | S21: expected 'sync.disturbed' on a prediction, a list of plans

// -----

// S21: a plan without a planner.
change step 2.0 => step 2.0 {sync.disturbed = [{crosses = true, high = 2.0 : f64, low = 1.0 : f64, mean = 1.5 : f64}]}
error sync.prediction | S21: expected 'sync.disturbed' on a prediction, a list of plans

// -----

// S21: a mean that is not a number.
change step 2.0 => step 2.0 {sync.disturbed = [{crosses = true, high = 2.0 : f64, low = 1.0 : f64, mean = 0x7FF8000000000000 : f64, planner = "p"}]}
error sync.prediction | S21: expected 'sync.disturbed' on a prediction, a list of plans

// -----

// S21: a time below 0.
change step 2.0 => step 2.0 {sync.disturbed = [{crosses = true, high = 2.0 : f64, low = -1.0 : f64, mean = 1.5 : f64, planner = "p"}]}
error sync.prediction | S21: expected 'sync.disturbed' on a prediction, a list of plans

// -----

// S21: quantiles that descend.
change step 2.0 => step 2.0 {sync.disturbed = [{crosses = true, high = 2.0 : f64, low = 2.5 : f64, mean = 1.5 : f64, planner = "p"}]}
error sync.prediction | S21: expected 'sync.disturbed' on a prediction, a list of plans

// -----

// S21: more than is known.
change step 2.0 => step 2.0 {sync.disturbed = [{crosses = true, high = 2.0 : f64, low = 1.0 : f64, mean = 1.5 : f64, more = 1.0 : f64, planner = "p"}]}
error sync.prediction | S21: expected 'sync.disturbed' on a prediction, a list of plans

// -----

// Valid: A range.
change step 2.0 => step 2.0 {sync.range = {doubt = 0.5 : f64, fast = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}, runs = 9 : i64, slow = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}}}

// -----

// S22: a doubt of 1.
change step 2.0 => step 2.0 {sync.range = {doubt = 1.0 : f64, fast = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}, runs = 9 : i64, slow = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}}}
error sync.prediction | S22: expected 'sync.range' on a prediction: a 'doubt' below 1

// -----

// S22: no run.
change step 2.0 => step 2.0 {sync.range = {doubt = 0.5 : f64, fast = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}, runs = 0 : i64, slow = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}}}
error sync.prediction | S22: expected 'sync.range' on a prediction: a 'doubt' below 1

// -----

// S22: an end without a step.
change step 2.0 => step 2.0 {sync.range = {doubt = 0.5 : f64, fast = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64}, runs = 9 : i64, slow = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}}}
error sync.prediction | S22: expected 'sync.range' on a prediction: a 'doubt' below 1

// -----

// S22: a step that is infinite.
change step 2.0 => step 2.0 {sync.range = {doubt = 0.5 : f64, fast = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 0x7FF0000000000000 : f64}, runs = 9 : i64, slow = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}}}
error sync.prediction | S22: expected 'sync.range' on a prediction: a 'doubt' below 1

// -----

// S22: fewer than no messages.
change step 2.0 => step 2.0 {sync.range = {doubt = 0.5 : f64, fast = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = -1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}, runs = 9 : i64, slow = {crosses = false, efficiency = 0.5 : f64, exposed = 0.0 : f64, messages = 1 : i64, regroups = false, schemes = 0 : i64, step = 2.0 : f64}}}
error sync.prediction | S22: expected 'sync.range' on a prediction: a 'doubt' below 1

// -----

// Disturbed steps of no prediction.
// expected-error @+1 {{S21: expected 'sync.disturbed' on a prediction}}
module attributes {sync.disturbed = [{crosses = true, high = 2.0 : f64, low = 1.0 : f64, mean = 1.5 : f64, planner = "p"}]} {
}
