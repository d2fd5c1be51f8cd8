// An operation with this trait has no attributes but its own and those of a dialect.
#ifndef SYNCLINE_KNOWN_ATTRIBUTES_TD
#define SYNCLINE_KNOWN_ATTRIBUTES_TD

include "mlir/IR/OpBase.td"

// MLIR would keep any other attribute, so a misspelled one would be ignored without a word.
def KnownAttributes : NativeOpTrait<"KnownAttributes"> {
  let cppNamespace = "::syncline::ir";
}

#endif
