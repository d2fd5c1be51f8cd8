// What `syncline compile` does, without its command line.
#pragma once

#include "frontend/files/ClusterFile.h"
#include "syncline/Status.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace syncline::driver {

struct CompileOptions {
  std::string model;               ///< ONNX file, or a layer trace when it ends in .csv
  std::string cluster;             ///< path of a cluster file
  std::string profile;             ///< JSON; empty for none
  std::string offers;              ///< YAML, in place of cluster and output; empty for none
  std::string output;              ///< the plan folder
  std::string planner = "optimal"; ///< as solver::parsePlanner reads it
  std::string overlap = "auto";    ///< "backward", "step" or "auto"
  std::string channels = "1";      ///< a number up to maxChannels, or "auto"
  std::string consistency = "bsp"; ///< as sync::parseConsistency reads it, or "auto:FORM,.."
  std::vector<std::string> forms = {"bsp"}; ///< all forms that `consistency` names
  std::string optimizer = "sgd";            ///< one of allOptimizers
  std::optional<double> clipNorm; ///< to which gradients are clipped; nothing: they are not
  std::string wire = "fp32";      ///< one of allWires
  std::string precision;          ///< one of nn::precisions; empty for precisionFor()'s
  std::string like;               ///< one of cluster::allLikes; empty: pytorch on GPUs
  std::string backend;            ///< one of stepTargets(); empty until settleBackend()
  bool followsCluster = false;    ///< whether the backend is the cluster's, not the user's
  std::shared_ptr<const files::ClusterFile> read; ///< `cluster`, where settleBackend() has read it
  std::string loss = "cross-entropy";             ///< as TrainedLoss::parse reads it
  std::string classesIn = "auto"; ///< the output's dimension of classes: "1", "-1" or "auto"
  std::string modelOutput;        ///< which graph output the loss is taken on; empty for the first
  std::string splitTied = "auto"; ///< "auto", "never" or "always"
  std::optional<std::int64_t> batch;
  std::int64_t accumulate = 1; ///< batches whose gradients a step adds up, up to mostMicroBatches
  std::optional<std::int64_t> nodes; ///< replaces the cluster file's number
  std::vector<std::string> schemes;  ///< "LAYER=SCHEME", as parseRequestedScheme reads it
  std::vector<std::string> freeze;
  std::string parameters;             ///< a list of the model's parameters; empty for none
  std::vector<std::string> recompute; ///< blocks to recompute, as globs, or "auto"; empty for none
  bool dropout = true;
  bool quiet = false;                             ///< do not print what was written
  std::map<std::string, std::int64_t> dimensions; ///< sizes of symbolic dimensions, by name
  std::string varied;              ///< a symbolic dimension of several sizes; empty for none
  std::vector<std::int64_t> sizes; ///< its sizes, ascending: a plan for each; empty for none
  std::map<std::string, std::int64_t> batchDimensions; ///< of inputs, by name, from 0
  bool balance = false;                                ///< batches by the ranks' speeds
  bool planOnly = false; ///< plan a model by its shapes alone, as a layer trace

  /// Whether as much is recomputed as the devices' memory wants.
  bool recomputesToFit() const { return recompute == std::vector<std::string>{"auto"}; }
};

/// Is this model a layer trace (.csv)?
bool isTrace(const std::string &model);

/// Reads the inputs, runs the pipeline and writes the plan folder, whole or not at all. Prints
/// notes to standard error.
Status compile(const CompileOptions &options);

} // namespace syncline::driver
