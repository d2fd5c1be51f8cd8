// The cluster dialect: attributes that describe the machines a plan is made for.
#ifndef SYNCLINE_CLUSTER_ATTRS_TD
#define SYNCLINE_CLUSTER_ATTRS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"

def Cluster_Dialect : Dialect {
  let name = "cluster";
  let cppNamespace = "::syncline::cluster";
  let summary = "the machines a plan is made for: ranks, rates, and what a collective costs";
  let description = [{
    The dialect has attributes and no operations. Times are in seconds, sizes in bytes, rates per
    second. SPEC.md numbers the rules, and the verifiers cite them.
  }];
  let useDefaultAttributePrinterParser = 1;
  let hasOperationAttrVerify = 1;
  // All stand on a module, with #cluster.spec as `cluster.spec` (C7).
  let discardableAttrs = (ins "::mlir::DictionaryAttr":$profile, "::mlir::FloatAttr":$update,
                              "::mlir::FloatAttr":$overhead, "::mlir::ArrayAttr":$scatter,
                              "::mlir::DictionaryAttr":$provenance, "::mlir::StringAttr":$wire);
}

class Cluster_Attr<string name, string attrMnemonic> : AttrDef<Cluster_Dialect, name> {
  let mnemonic = attrMnemonic;
  let genVerifyDecl = 1;
}

// A real prints as the shortest decimal that reads back to the same double.
class Cluster_Real<string desc> : AttrParameter<"::syncline::cluster::Real", desc>;
class Cluster_OptionalReal<string desc>
    : OptionalParameter<"::std::optional<::syncline::cluster::Real>", desc>;

// Its names in IR, plan.json, cluster files and on the command line are those of syncline/Scheme.h.
def Cluster_SchemeAttr : AttrDef<Cluster_Dialect, "Scheme"> {
  let mnemonic = "scheme";
  let summary = "how gradients come to agree";
  let description = [{
    A name with a hyphen is quoted: `#cluster<scheme "parameter-server">`.
  }];
  let parameters = (ins AttrParameter<"::syncline::Scheme", "the scheme">:$value);
  let assemblyFormat = "$value";
}

def Cluster_KernelsAttr : Cluster_Attr<"Kernels", "kernels"> {
  let summary = "how fast the kernels of a kind of device are";
  let description = [{
    `numbers` are what passes/cost/DeviceModel.h predicts the seconds of a kernel by: peaks by
    precision, rates, and shares of them by class of operation. `like` says whose kernels a step
    has: `pytorch` (eager), `pytorch-nchw` (channels first), `compiled` (fused) or `best` (tuned)
    (C16).

    ```mlir
    #cluster.kernels<like = "pytorch", numbers = {bandwidth = 2.0e+12 : f64}>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"whose kernels">:$like,
    AttrParameter<"::mlir::DictionaryAttr", "f64 by name">:$numbers);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_DeviceAttr : Cluster_Attr<"Device", "device"> {
  let summary = "the device of one rank";
  let description = [{
    A rate that is absent is unknown: times must then come from a profile (C2). Where `kernels`
    stands, times come from it and not from `compute` and `memory`.

    ```mlir
    #cluster.device<compute = 5.0e+10, memory = 1.0e+10, launchOverhead = 5.0e-06,
      memorySize = 16000000000>
    ```
  }];
  let parameters = (ins
    Cluster_OptionalReal<"floating-point operations per second">:$compute,
    Cluster_OptionalReal<"bytes per second to and from main memory">:$memory,
    Cluster_Real<"seconds added to every operation">:$launchOverhead,
    OptionalParameter<"::std::optional<int64_t>",
                      "bytes that it holds; unknown when absent">:$memorySize,
    OptionalParameter<"::syncline::cluster::KernelsAttr",
                      "how fast its kernels are; a roofline when absent">:$kernels);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_ProtocolsAttr : Cluster_Attr<"Protocols", "protocols"> {
  let summary = "what NCCL's protocols reach on a link";
  let description = [{
    For each of NCCL's protocols the seconds of a message over this link, and the share of the
    link's rate that long messages reach. The last two are those of sums in the switch between a
    node's devices (NVLS), where it has them (C17).

    ```mlir
    #cluster.protocols<ll = 6.0e-07, llShare = 0.1, ll128 = 1.9e-06, ll128Share = 0.7,
      simple = 3.4e-06, simpleShare = 0.8>
    ```
  }];
  let parameters = (ins
    Cluster_Real<"seconds a message by LL">:$ll,
    Cluster_Real<"share of the rate by LL">:$llShare,
    Cluster_Real<"seconds a message by LL128">:$ll128,
    Cluster_Real<"share of the rate by LL128">:$ll128Share,
    Cluster_Real<"seconds a message by Simple">:$simple,
    Cluster_Real<"share of the rate by Simple">:$simpleShare,
    Cluster_OptionalReal<"seconds of a sum in the switch">:$inSwitch,
    Cluster_OptionalReal<"bytes summed in the switch, by the rate">:$inSwitchShare);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_LinkAttr : Cluster_Attr<"Link", "link"> {
  let summary = "a link between two machines, which carries both directions at once";
  let description = [{
    A message costs alpha seconds, beta seconds per byte sent and gamma seconds per byte reduced
    (C9). `protocols` stands on links of a kind in plans whose messages NCCL carries.

    `#cluster.link<alpha = 5.0e-05, beta = 8.0e-10, gamma = 0.0>`
  }];
  let parameters = (ins
    Cluster_Real<"seconds per message">:$alpha,
    Cluster_Real<"seconds per byte sent">:$beta,
    Cluster_Real<"seconds per byte reduced">:$gamma,
    OptionalParameter<"::syncline::cluster::ProtocolsAttr",
                      "what NCCL reaches; unknown when absent">:$protocols);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_ServersAttr : Cluster_Attr<"Servers", "servers"> {
  let summary = "the parameter servers";
  let description = [{
    There are `count` servers. Dedicated servers have machines of their own. Colocated servers are
    on the machines of the first `count` ranks. Each server has a `link` of its own (C10).

    ```mlir
    #cluster.servers<count = 2, dedicated = true,
      link = <alpha = 5.0e-05, beta = 8.0e-10, gamma = 0.0>, memory = 1000000>
    ```
  }];
  let parameters = (ins
    "int64_t":$count,
    AttrParameter<"bool", "whether servers have machines of their own">:$dedicated,
    AttrParameter<"::syncline::cluster::LinkAttr", "link of each server">:$link,
    OptionalParameter<"::std::optional<int64_t>",
                      "bytes that each server can hold; no limit when absent">:$memory);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_FormulaAttr : Cluster_Attr<"Formula", "formula"> {
  let summary = "time of a collective by its algorithm's formula";
  let description = [{
    A message costs alpha seconds, beta seconds per byte sent and gamma seconds per byte reduced
    (C3). passes/problem/README.md has the formulas.

    `#cluster.formula<algorithm = ring, ranks = 4, alpha = 2.0e-05, beta = 8.0e-10, gamma = 0.0>`
  }];
  let parameters = (ins
    AttrParameter<"::syncline::Scheme",
                  "one that has a formula">:$algorithm,
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
    The points are pairs of bytes and seconds; bytes ascend (C5). Below the first point its time
    holds. After the last point the last line goes on.

    `#cluster.table<[4096, 1.0e-04], [1048576, 2.0e-03]>`
  }];
  let parameters = (ins ArrayRefParameter<"::syncline::cluster::Point", "sizes and times">:$points);
  let assemblyFormat = "`<` $points `>`";
}

def Cluster_TimesAttr : Cluster_Attr<"Times", "times"> {
  let summary = "measured times of one layer";
  let description = [{
    The module's `cluster.profile` is a dictionary of such times, whose keys are layers. `backward`
    is absent where the layer has no backward pass (C8).

    `#cluster.times<forward = 1.5e-03, backward = 3.0e-03>`
  }];
  let parameters = (ins Cluster_Real<"seconds">:$forward,
                        Cluster_OptionalReal<"seconds">:$backward);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_CollectiveAttr : Cluster_Attr<"Collective", "collective"> {
  let summary = "the cost of a scheme on this cluster, stated and not derived";
  let description = [{
    The cost is the seconds of a message by its bytes. For `factors` it is the seconds of the
    all-gather by the bytes that ONE rank contributes (C11). `interference` and the factors by class
    of operation replace those of the spec for the scheme's messages (C15).

    `#cluster.collective<ring, #cluster.affine<a = 9.08e-04, b = 7.4e-10>, interference = 1.4>`
  }];
  let parameters = (ins
    AttrParameter<"::syncline::Scheme", "the scheme">:$scheme,
    AttrParameter<"::mlir::Attribute", "a formula, line or table">:$cost,
    Cluster_OptionalReal<"factor on the time of operations beside the scheme's messages">
      :$interference,
    Cluster_OptionalReal<"this factor for products of matrices">:$products,
    Cluster_OptionalReal<"this factor for all other operations">:$memory);
  let assemblyFormat =
    "`<` $scheme `,` $cost (`,` struct($interference, $products, $memory)^)? `>`";
  let extraClassDeclaration = [{
    /// The collective at another cost.
    CollectiveAttr withCost(::mlir::Attribute cost) const;
  }];
}

// A list in a struct needs brackets. Its elements print without their mnemonic.
def Cluster_Collectives
    : OptionalArrayRefParameter<"::syncline::cluster::CollectiveAttr",
                                "the stated costs, one for each scheme"> {
  let parser = "parseBracketed<CollectiveAttr>($_parser)";
  let printer = "printBracketed($_printer, $_self)";
}

// A list in a struct needs brackets.
def Cluster_Nodes : ArrayRefParameter<"int64_t", "ascending, from 0"> {
  let parser = "parseNodes($_parser)";
  let printer = "printNodes($_printer, $_self)";
}

def Cluster_OverrideAttr : Cluster_Attr<"Override", "override"> {
  let summary = "values that differ on some nodes";
  let description = [{
    On these nodes operations take `slowdown` times as long, and `link` replaces the spec's (C14).

    ```mlir
    #cluster.override<nodes = [3], slowdown = 1.5,
      link = <alpha = 5.0e-05, beta = 8.0e-09, gamma = 0.0>>
    ```
  }];
  let parameters = (ins
    Cluster_Nodes:$nodes,
    DefaultValuedParameter<"::syncline::cluster::Real", "::syncline::cluster::Real(1.0)",
                           "factor on the time of operations">:$slowdown,
    OptionalParameter<"::syncline::cluster::LinkAttr", "link of each of these nodes">:$link);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Cluster_Overrides
    : OptionalArrayRefParameter<"::syncline::cluster::OverrideAttr", "no node twice"> {
  let parser = "parseBracketed<OverrideAttr>($_parser)";
  let printer = "printBracketed($_printer, $_self)";
}

def Cluster_SpecAttr : Cluster_Attr<"Spec", "spec"> {
  let summary = "a cluster of equal ranks, except for overrides";
  let description = [{
    `collectives` holds only what the cluster file states. SPEC.md says what a cluster offers
    besides, over `link`. Node n has the ranks from n·devicesPerNode on, which are joined by
    `inside` and share the node's cards with those of `groups` - 1 equal clusters. While a message
    is under way on one of a rank's channels, its operations take `interference` times as long, or
    by class `productsInterference` and `memoryInterference` times, but `latencyInterference` times
    during the message's latency. Two messages at once that take their stated costs take
    `messageInterference` times as long each. A spec has `nccl` in plans for GPUs: NCCL then carries
    the messages, by the schemes and protocols that it has. Absent values and defaults are not
    printed (C1, C6, C10, C12, C13, C14, C15).

    ```mlir
    #cluster.spec<name = "lab", ranks = 4, devicesPerNode = 2, cardsPerNode = 2,
      device = <launchOverhead = 0.0>, link = <alpha = 5.0e-05, beta = 8.0e-10, gamma = 0.0>,
      inside = <alpha = 1.0e-05, beta = 1.0e-10, gamma = 0.0>, halfDuplex = true,
      interference = 1.35, latencyInterference = 1.9, messageInterference = 1.8,
      collectives = [<ring, #cluster.affine<a = 9.08e-04, b = 7.4e-10>>],
      servers = <count = 2, dedicated = true,
                 link = <alpha = 5.0e-05, beta = 8.0e-10, gamma = 0.0>>,
      largestMessage = 67108864, overrides = [<nodes = [1], slowdown = 1.5>],
      nccl = true>
    ```
  }];
  let parameters = (ins
    StringRefParameter<"name for messages">:$name,
    "int64_t":$ranks,
    DefaultValuedParameter<"int64_t", "1", "ranks on one node">:$devicesPerNode,
    DefaultValuedParameter<"int64_t", "1",
                           "network cards of one node, each with a link">:$cardsPerNode,
    DefaultValuedParameter<"int64_t", "1",
                           "groups of ranks like these that use the cards at once">:$groups,
    AttrParameter<"::syncline::cluster::DeviceAttr", "device of each rank">:$device,
    OptionalParameter<"::syncline::cluster::LinkAttr", "link of each network card">:$link,
    OptionalParameter<"::syncline::cluster::LinkAttr",
                      "link between the devices of one node">:$inside,
    DefaultValuedParameter<"bool", "false",
                           "whether links between nodes carry one direction at a time">:$halfDuplex,
    DefaultValuedParameter<"::syncline::cluster::Real", "::syncline::cluster::Real(1.0)",
                           "factor on the time of operations beside a message">:$interference,
    Cluster_OptionalReal<"as interference, for products of matrices; that factor when absent">
      :$productsInterference,
    Cluster_OptionalReal<"as interference, for all other operations; that factor when absent">
      :$memoryInterference,
    Cluster_OptionalReal<"as interference, during a message's latency; that factor when absent">
      :$latencyInterference,
    Cluster_OptionalReal<"factor on the stated time of each of two messages at once; 2 when absent">
      :$messageInterference,
    Cluster_Collectives:$collectives,
    OptionalParameter<"::syncline::cluster::ServersAttr",
                      "the parameter servers; when absent, one beside every rank">:$servers,
    OptionalParameter<"::std::optional<int64_t>",
                      "bytes of the largest message; no limit when absent">:$largestMessage,
    Cluster_Overrides:$overrides,
    DefaultValuedParameter<"bool", "false",
                           "NCCL carries the messages; otherwise Syncline's own transport">:$nccl);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
