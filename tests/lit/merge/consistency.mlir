// Every form of consistency reads back to itself; numbers at their defaults are left out.
// RUN: syncline-opt --split-input-file %s | FileCheck %s

// CHECK: a = #sync.consistency<ssp, upper = 3>
// CHECK-SAME: b = #sync.consistency<ssp>
// CHECK-SAME: c = #sync.consistency<asp>
// CHECK-SAME: d = #sync.consistency<dssp, lower = 3, upper = 15>
// CHECK-SAME: e = #sync.consistency<easgd, rho = 0.1>
// CHECK-SAME: f = #sync.consistency<easgd, period = 4, variant = sync3, rho = 0.25>
// CHECK-SAME: g = #sync.consistency<local, period = 4>
module attributes {some.a = #sync.consistency<ssp, upper = 3>,
                   some.b = #sync.consistency<ssp, upper = 0>,
                   some.c = #sync.consistency<asp>,
                   some.d = #sync.consistency<dssp, lower = 3, upper = 15>,
                   some.e = #sync.consistency<easgd, variant = original, rho = 0.1>,
                   some.f = #sync.consistency<easgd, variant = sync3, rho = 0.25, period = 4>,
                   some.g = #sync.consistency<local, period = 4>} {}
