// The sync dialect: how the ranks' gradients come to agree.
#ifndef SYNCLINE_SYNC_DIALECT_TD
#define SYNCLINE_SYNC_DIALECT_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Sync_Dialect : Dialect {
  let name = "sync";
  let cppNamespace = "::syncline::sync";
  let dependentDialects = ["::syncline::cluster::ClusterDialect"];
  let summary = "every gradient comes to agree across ranks: unchosen, then in buckets with a scheme";
  let description = [{
    Collectives are tensor operations, so that a scheme can be an algebraic rewrite. MLIR's `mesh` dialect names
    collectives by the axes of a device mesh, one tensor each; it has no buckets, no order and no times, which is all that
    this dialect is about, so nothing of it is reused. A problem and a claimed solution are operations too
    (`sync.problem`, `sync.solution`): solvers and checkers are tested by text, and a plan ships with its proof.
    Rules are numbered in SPEC.md. Times are in seconds, sizes in bytes.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class Sync_Op<string mnemonic, list<Trait> traits = []> : Op<Sync_Dialect, mnemonic, traits>;

// A #cluster<scheme ...>. Its TableGen source is not included: this dialect's files would define the enum once more.
def Sync_Scheme : Attr<CPred<"::llvm::isa<::syncline::cluster::SchemeAttr>($_self)">, "a scheme"> {
  let storageType = "::syncline::cluster::SchemeAttr";
  let returnType = "::syncline::cluster::Scheme";
  let convertFromStorage = "$_self.getValue()";
}

#endif
