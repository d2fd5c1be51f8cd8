// Attributes of the sync dialect: parts of problems, of solutions and of certificates.
#ifndef SYNCLINE_SYNC_ATTRS_TD
#define SYNCLINE_SYNC_ATTRS_TD

include "ir/sync/SyncDialect.td"

class Sync_Attr<string name, string attrMnemonic> : AttrDef<Sync_Dialect, name> {
  let mnemonic = attrMnemonic;
}

// A real prints as the shortest decimal that reads back to the same double.
class Sync_Real<string desc> : AttrParameter<"::syncline::cluster::Real", desc>;
class Sync_SchemeParameter<string desc> : AttrParameter<"::syncline::cluster::Scheme", desc>;

def Sync_TimesAttr : Sync_Attr<"Times", "times"> {
  let summary = "a list of seconds";
  let description = [{
    Unlike a builtin array of f64 it prints every digit, which a proof needs:
    `#sync.times<[0.0, 0.15, 0.3]>`.
  }];
  let parameters = (ins OptionalArrayRefParameter<"::syncline::cluster::Real">:$values);
  let assemblyFormat = "`<` `[` (`]`) : ($values^ `]`)? `>`";
}

class Sync_DefaultReal<string value>
    : DefaultValuedParameter<"::syncline::cluster::Real",
                             "::syncline::cluster::Real(" # value # ")">;

def Sync_ConsistencyAttr : Sync_Attr<"Consistency", "consistency"> {
  let summary = "who waits for whom, where gradients stay on their rank";
  let description = [{
    Each rank updates its weights by its own gradients. What travels are weights, or what training
    has added to them. SPEC.md ("Consistency") says what each form does, and which numbers it has
    (S19). Without the attribute gradients travel in every step, and all ranks wait for each other.

    ```mlir
    #sync.consistency<local, period = 4>
    #sync.consistency<diloco, period = 8, fragments = 2, delay = 1, mix = 0.5, rate = 0.7,
                      momentum = 0.9>
    #sync.consistency<ssp, upper = 3>
    #sync.consistency<asp>
    #sync.consistency<dssp, lower = 3, upper = 15>
    #sync.consistency<easgd, period = 4, variant = sync3, rho = 0.1>
    ```
  }];
  let parameters = (ins AttrParameter<"::syncline::ConsistencyForm", "not bsp">:$form,
                        DefaultValuedParameter<"int64_t", "1", "steps">:$period,
                        DefaultValuedParameter<"int64_t", "1">:$fragments,
                        DefaultValuedParameter<"int64_t", "0", "steps">:$delay,
                        Sync_DefaultReal<"0.0">:$mix, Sync_DefaultReal<"1.0">:$rate,
                        Sync_DefaultReal<"0.0">:$momentum,
                        DefaultValuedParameter<"int64_t", "0", "steps">:$lower,
                        DefaultValuedParameter<"int64_t", "0", "steps">:$upper,
                        DefaultValuedParameter<"::syncline::EasgdVariant",
                                               "::syncline::EasgdVariant::original">:$variant,
                        Sync_DefaultReal<"0.0">:$rho);
  let assemblyFormat = [{
    `<` $form (`,` struct($period, $fragments, $delay, $mix, $rate, $momentum, $lower, $upper,
                          $variant, $rho)^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Whether weights travel by servers; else by all-reduces (S19).
    bool isServed() const;
    /// Steps from one fragment's arrival to the next one's.
    int64_t window() const { return getPeriod() / getFragments(); }
  }];
}

def Sync_OptionAttr : Sync_Attr<"Option", "option"> {
  let summary = "a scheme by which a merge class's messages may travel";
  let description = [{
    `cost` gives the seconds on the channel of a message by its bytes, as a #cluster.formula,
    #cluster.affine or #cluster.table. `traffic` is the bytes that a node moves in both directions
    for each byte of gradient (S7). `lost` gives the seconds of computation that a message takes
    from the device beside it, in the same forms; none where it is absent. `products` and `memory`
    give the same for a message beside which only operations of that class run (`memory_bound` of
    `sync.problem`).

    `#sync.option<ring, cost = #cluster.affine<a = 1.0e-3, b = 1.0e-9>, traffic = 3.0>`
  }];
  let parameters = (ins Sync_SchemeParameter<"the scheme">:$scheme,
                        AttrParameter<"::mlir::Attribute", "seconds by bytes">:$cost,
                        Sync_Real<"bytes moved per byte of gradient">:$traffic,
                        OptionalParameter<"::mlir::Attribute", "seconds by bytes">:$lost,
                        OptionalParameter<"::mlir::Attribute", "seconds by bytes">:$products,
                        OptionalParameter<"::mlir::Attribute", "seconds by bytes">:$memory);
  let assemblyFormat = "`<` $scheme `,` struct($cost, $traffic, $lost, $products, $memory) `>`";
  let genVerifyDecl = 1;
}

def Sync_MergeClassAttr : Sync_Attr<"MergeClass", "merge_class"> {
  let summary = "schemes that share one open bucket";
  let description = [{
    A bucket of a merge class travels by one of its options. `largest` is the maximal bytes of one
    bucket. `capacity` is the maximal bytes of all buckets of the merge class together, which is
    what servers can hold. There is no limit where they are absent (S8).

    ```mlir
    #sync.merge_class<[<"parameter-server", cost = #cluster.affine<a = 1.0e-3, b = 1.0e-9>,
                        traffic = 3.0>], largest = 65536, capacity = 1000000>
    ```
  }];
  let parameters = (ins ArrayRefParameter<"::syncline::sync::OptionAttr", "at least one">:$options,
                        OptionalParameter<"::std::optional<int64_t>", "bytes">:$largest,
                        OptionalParameter<"::std::optional<int64_t>", "bytes">:$capacity);
  let assemblyFormat = [{
    `<` `[` $options `]` (`,` struct($largest, $capacity)^)? `>`
  }];
  let genVerifyDecl = 1;
}

def Sync_FactorOptionAttr : Sync_Attr<"FactorOption", "factor_option"> {
  let summary = "a way for one gradient to travel alone";
  let description = [{
    `layer` counts from zero. The message takes `seconds` on the channel. Then the gradient is
    computed in `reconstruct` seconds. `traffic` is the bytes that a node moves for it in both
    directions. `factorBytes` is what one rank contributes, where the scheme is factors. Solving the
    problem does not need it; posing the problem for another cluster does (S9). `lost` is the
    seconds of computation that the message takes from the device beside it, 0 where absent, as are
    `products` and `memory`, which are those beside operations of one class.

    ```mlir
    #sync.factor_option<layer = 1, scheme = factors, seconds = 1.0e-3, reconstruct = 2.0e-3,
                        traffic = 1000.0, factorBytes = 500>
    ```
  }];
  let parameters = (ins "int64_t":$layer, Sync_SchemeParameter<"the scheme">:$scheme,
                        Sync_Real<"seconds on the channel">:$seconds,
                        Sync_Real<"seconds of computation">:$reconstruct,
                        Sync_Real<"bytes">:$traffic,
                        OptionalParameter<"::std::optional<int64_t>", "bytes">:$factorBytes,
                        OptionalParameter<"::std::optional<::syncline::cluster::Real>",
                                          "seconds">:$lost,
                        OptionalParameter<"::std::optional<::syncline::cluster::Real>",
                                          "seconds">:$products,
                        OptionalParameter<"::std::optional<::syncline::cluster::Real>",
                                          "seconds">:$memory);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sync_GatherAttr : Sync_Attr<"Gather", "gather"> {
  let summary = "the second half of a message in halves";
  let description = [{
    The all-gather is a message of its own, which occupies the channel from `start` to `end`.
    `place` is its place among all messages of the solution, counted from zero; second halves count
    too.

    `#sync.gather<place = 3, start = 0.3, end = 0.4>`
  }];
  let parameters = (ins "int64_t":$place, Sync_Real<"seconds">:$start, Sync_Real<"seconds">:$end);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Sync_MessageAttr : Sync_Attr<"Message", "message"> {
  let summary = "one message of a solution";
  let description = [{
    `layers` ascend and count from zero. `merge_class` is absent where the message's one layer
    travels alone. The message is `ready` when its last member is, and occupies the channel from
    `start` to `end`. Its gradients exist at `reconstructed`, which is `end` where absent (S10). The
    attribute has only numbers that a checker compares; all else follows from the problem.

    In an order (`sync.problem`'s `tails`) `layers` descend, and `cut` says what of them travels in
    other messages: so many bytes at the beginning of the first gradient listed, and so many at the
    end of the last one. Absent, it is [0, 0]. With `gather` the message travels in halves: `start`
    and `end` are those of the reduce-scatter (S10d).

    `channel` says which channel carries the message in the program; absent, it is 0. The times are
    those of a model with one channel, whichever it is; only a `sync.prediction` counts several.

    ```mlir
    #sync.message<layers = [0, 1], scheme = ring, merge_class = 0, bytes = 4096, ready = 0.1,
                  start = 0.2, end = 0.3>
    #sync.message<layers = [2, 1], scheme = ring, merge_class = 0, bytes = 4096, cut = [0, 1024],
                  ready = 0.1, start = 0.2, end = 0.3>
    #sync.message<layers = [2, 1], scheme = "reduce-scatter", merge_class = 0, bytes = 4096,
                  gather = <place = 1, start = 0.3, end = 0.4>, ready = 0.1, start = 0.2, end = 0.3>
    ```
  }];
  let parameters = (ins OptionalArrayRefParameter<"int64_t", "members">:$layers,
                        Sync_SchemeParameter<"how it travels">:$scheme,
                        OptionalParameter<"::std::optional<int64_t>",
                                          "number in the problem">:$mergeClass,
                        "int64_t":$bytes,
                        OptionalArrayRefParameter<"int64_t", "bytes, two numbers or none">:$cut,
                        DefaultValuedParameter<"int64_t", "0", "which carries it">:$channel,
                        Sync_Real<"seconds">:$ready, Sync_Real<"seconds">:$start,
                        Sync_Real<"seconds">:$end,
                        OptionalParameter<"::std::optional<::syncline::cluster::Real>",
                                          "seconds">:$reconstructed,
                        OptionalParameter<"::syncline::sync::GatherAttr">:$gather);
  let assemblyFormat = [{
    `<` `layers` `=` `[` (`]`) : ($layers^ `]`)? `,` `scheme` `=` $scheme `,`
    (`merge_class` `=` $mergeClass^ `,`)? `bytes` `=` $bytes `,`
    (`cut` `=` `[` $cut^ `]` `,`)? (`channel` `=` $channel^ `,`)? (`gather` `=` $gather^ `,`)?
    `ready` `=` $ready
    `,` `start` `=` $start `,` `end` `=` $end (`,` `reconstructed` `=` $reconstructed^)? `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    bool isFactors() const { return !getMergeClass(); }
    int64_t cutBefore() const { return getCut().empty() ? 0 : getCut()[0]; }
    int64_t cutBehind() const { return getCut().empty() ? 0 : getCut()[1]; }
    /// The time at which the message's gradients exist, in seconds.
    double reconstructedAt() const { return getReconstructed().value_or(getEnd()); }
  }];
}

def Sync_OrderAttr : Sync_Attr<"Order", "order"> {
  let summary = "the proof of a bound on the period of every order";
  let description = [{
    The gradients that are ready at `ready` or later, in seconds from the beginning of the backward
    pass, and whose tail is at least `tail`, prove the `bound` of a solution of a problem with
    `tails`. `lines` has, for each merge class, latency and seconds per byte of a line under all its
    costs. `channel_weight`, 1 where it is left out, is above 0 and at most 1.
    passes/proof/README.md ("The bound of an order") has the sum that a checker evaluates.

    `#sync.order<ready = 0.2, tail = 0.1, lines = [1.0e-3, 1.0e-9]>`
  }];
  let parameters = (ins OptionalParameter<"::std::optional<::syncline::cluster::Real>",
                                          "between 0 and 1">:$channelWeight,
                        Sync_Real<"seconds">:$ready, Sync_Real<"seconds">:$tail,
                        ArrayRefParameter<"::syncline::cluster::Real">:$lines);
  let assemblyFormat = [{
    `<` (`channel_weight` `=` $channelWeight^ `,`)? `ready` `=` $ready `,` `tail` `=` $tail `,`
    `lines` `=` `[` $lines `]` `>`
  }];
}

def Sync_GatheredAttr : Sync_Attr<"Gathered", "gathered"> {
  let summary = "what one rank sends of a layer's gradient that travels by factors or rows";
  let description = [{`#sync.gathered<sparse, bytes = 8>` (S3d).}];
  let parameters = (ins Sync_SchemeParameter<"factors or sparse">:$scheme, "int64_t":$bytes);
  let assemblyFormat = "`<` $scheme `,` `bytes` `=` $bytes `>`";
  let genVerifyDecl = 1;
}

def Sync_RelaxationsAttr : Sync_Attr<"Relaxations", "relaxations"> {
  let summary = "relaxations, which prove a bound";
  let description = [{
    The attribute proves the `bound` of its solution; passes/proof/README.md has the meaning of its
    rows. Each relaxation is a row: [weight of the channel, seconds per held byte, then latency and
    seconds per byte of each merge class]. A line that says nothing is 0 + 0 x. Such merge classes
    may be left out at the end of a row.

    `#sync.relaxations<[[1.0, 0.0, 0.5, 1.0e-9]]>`
  }];
  let parameters = (ins OptionalArrayRefParameter<"::syncline::sync::RelaxationRow">:$rows);
  let assemblyFormat = "`<` `[` (`]`) : ($rows^ `]`)? `>`";
}

#endif
