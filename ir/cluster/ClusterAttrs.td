// The cluster dialect: what a plan is made for, as attributes only.
#ifndef SYNCLINE_CLUSTER_ATTRS_TD
#define SYNCLINE_CLUSTER_ATTRS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Cluster_Dialect : Dialect {
  let name = "cluster";
  let cppNamespace = "::syncline::cluster";
  let summary = "the machines a plan is made for: ranks, rates, and what a collective costs";
  let description = [{
    Attributes without operations. Times are in seconds, sizes in bytes, rates per second. Rules are numbered in SPEC.md and
    cited by the verifiers.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
}

class Cluster_Attr<string name, string attrMnemonic> : AttrDef<Cluster_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

// Prints as the shortest decimal that reads back to the same double.
class Cluster_Real<string desc> : AttrParameter<"::syncline::cluster::Real", desc>;
class Cluster_OptionalReal<string desc> : OptionalParameter<"::std::optional<::syncline::cluster::Real>", desc>;

def Cluster_AlgorithmEnum : I32EnumAttr<"Algorithm", "how an all-reduce is carried out", [
  I32EnumAttrCase<"ring", 0>, I32EnumAttrCase<"recursiveDoubling", 1, "recursive-doubling">,
  I32EnumAttrCase<"halvingDoubling", 2, "halving-doubling">, I32EnumAttrCase<"tree", 3>]> {
  let cppNamespace = "::syncline::cluster";
  let genSpecializedAttr = 0;
}

def Cluster_DeviceAttr : Cluster_Attr<"Device", "device"> {
  let summary = "what one rank computes with";
  let description = [{
    A rate that is absent is unknown: times must then come from a profile (C2).

    `#cluster.device<compute = 5.0e+10, memory = 1.0e+10, launchOverhead = 5.0e-06>`
  }];
  let parameters = (ins
    Cluster_OptionalReal<"floating-point operations per second">:$compute,
    Cluster_OptionalReal<"bytes per second to and from main memory">:$memory,
    Cluster_Real<"seconds that every operation costs besides">:$launchOverhead);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_FormulaAttr : Cluster_Attr<"Formula", "formula"> {
  let summary = "time of an all-reduce by its algorithm's formula";
  let description = [{
    alpha seconds per message, beta seconds per byte sent, gamma seconds per byte reduced (C3). The formulas are in SPEC.md.

    `#cluster.formula<algorithm = ring, ranks = 4, alpha = 2.0e-05, beta = 8.0e-10, gamma = 0.0>`
  }];
  let parameters = (ins
    AttrParameter<"::syncline::cluster::Algorithm", "the algorithm">:$algorithm,
    "int64_t":$ranks,
    Cluster_Real<"seconds per message">:$alpha,
    Cluster_Real<"seconds per byte sent">:$beta,
    Cluster_Real<"seconds per byte reduced">:$gamma);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_AffineAttr : Cluster_Attr<"Affine", "affine"> {
  let summary = "time of a collective by a fitted line: a + b * bytes";
  let description = [{`#cluster.affine<a = 9.08e-04, b = 7.4e-10>` (C4).}];
  let parameters = (ins Cluster_Real<"seconds">:$a, Cluster_Real<"seconds per byte">:$b);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_TableAttr : Cluster_Attr<"Table", "table"> {
  let summary = "time of a collective by measured points, linear between them";
  let description = [{
    Pairs of bytes and seconds, bytes ascending (C5). The first time holds below the first point, the last line goes on after the last.

    `#cluster.table<[4096, 1.0e-04], [1048576, 2.0e-03]>`
  }];
  let parameters = (ins ArrayRefParameter<"::syncline::cluster::Point", "sizes and times">:$points);
  let assemblyFormat = "`<` $points `>`";
}

def Cluster_TimesAttr : Cluster_Attr<"Times", "times"> {
  let summary = "measured times of one layer";
  let description = [{
    Values of the module's `cluster.profile`, whose keys are layers; backward is absent where the layer has none (C8).

    `#cluster.times<forward = 1.5e-03, backward = 3.0e-03>`
  }];
  let parameters = (ins Cluster_Real<"seconds">:$forward, Cluster_OptionalReal<"seconds">:$backward);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_SpecAttr : Cluster_Attr<"Spec", "spec"> {
  let summary = "a cluster of equal ranks";
  let description = [{
    ```mlir
    #cluster.spec<name = "lab", ranks = 4, device = <launchOverhead = 0.0>, allReduce = #cluster.affine<a = 9.08e-04, b = 7.4e-10>>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"for people">:$name,
    "int64_t":$ranks,
    AttrParameter<"::syncline::cluster::DeviceAttr", "of each rank">:$device,
    AttrParameter<"::mlir::Attribute", "a formula, line or table: the time of an all-reduce of all ranks">:$allReduce);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
