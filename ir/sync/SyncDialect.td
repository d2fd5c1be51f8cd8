// The sync dialect: how the ranks synchronise their gradients.
#ifndef SYNCLINE_SYNC_DIALECT_TD
#define SYNCLINE_SYNC_DIALECT_TD

include "ir/KnownAttributes.td"

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sync_Dialect : Dialect {
  let name = "sync";
  let cppNamespace = "::syncline::sync";
  let dependentDialects = ["::syncline::cluster::ClusterDialect"];
  let summary = "the gradients' means over all ranks, and how messages compute them";
  let description = [{
    Collectives are tensor operations, so that a scheme can be an algebraic rewrite. A problem and a
    claimed solution are operations too (`sync.problem`, `sync.solution`). Solvers and checkers can
    so be tested by text, and a plan ships with its proof. Times are in seconds, sizes in bytes.
    SPEC.md numbers the rules.

    MLIR's `mesh` dialect is not reused. It names collectives by the axes of a device mesh, one
    tensor each, and has no buckets, no order and no times, which this dialect is for.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Sync_Op<string mnemonic, list<Trait> traits = []>
    : Op<Sync_Dialect, mnemonic, !listconcat([KnownAttributes], traits)>;

// A #cluster<scheme ...>. Its TableGen source is not included, because this dialect's files would
// then define the enum a second time.
def Sync_Scheme : Attr<CPred<"::llvm::isa<::syncline::cluster::SchemeAttr>($_self)">, "a scheme"> {
  let storageType = "::syncline::cluster::SchemeAttr";
  let returnType = "::syncline::cluster::Scheme";
  let convertFromStorage = "$_self.getValue()";
}

#endif
