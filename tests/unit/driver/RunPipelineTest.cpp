// Whose fault a failed compilation is.
#include "passes/RunPipeline.h"

#include "ir/Refusal.h"
#include "ir/sync/Sync.h"
#include "passes/RegisterAll.h"
#include "passes/solver/Planner.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

namespace syncline {
namespace {

/// Two layers on two ranks, with `more` beside the trace.
Status planned(const std::string &more, const PipelineOptions &options = {},
               const std::function<void(const std::string &)> &enter = {}) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      R"(module attributes {cluster.spec = #cluster.spec<name = "c", ranks = 2, device =
           <compute = 1.0e9, launchOverhead = 0.0>, link = <alpha = 1.0e-3, beta = 1.0e-9, gamma = 0.0>>} {
         sync.trace @t {
           sync.layer "first" bytes 4000 forward 1.0e-3 backward 2.0e-3
           sync.layer "second" bytes 8000 forward 1.0e-3 backward 2.0e-3
         })" +
          more + "}",
      &context);
  EXPECT_TRUE(module);
  return module ? runPasses(*module, buildPipeline, options, enter) : Status::badInput("not MLIR");
}

void expectFailure(const Status &status, int code, const std::string &part) {
  ASSERT_FALSE(status);
  EXPECT_EQ(status.exitCode(), code) << status.message();
  EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
}

TEST(RunPipeline, PlansATrace) { EXPECT_TRUE(planned("")); }

// A trace has no step to differentiate.
TEST(RunPipeline, TellsEachPhaseOnce) {
  std::vector<std::string> phases;
  EXPECT_TRUE(planned("", {}, [&](const std::string &phase) { phases.push_back(phase); }));
  EXPECT_EQ(phases, (std::vector<std::string>{"planning", "lowering"}));
}

TEST(RunPipeline, WhatTheUserAskedForIsTheUsersFault) {
  expectFailure(planned("", {nullptr, {"third=ring"}}), 1, "no layer matches 'third'");
  expectFailure(planned("", {*solver::parsePlanner("sfb"), {}}), 1,
                "planner 'sfb': no layer can travel by 'factors'");
  expectFailure(planned("", {nullptr, {"*=hierarchical"}}), 1, "the cluster does not offer it");
}

// A solution that no pass of ours made stands for one that a pass made wrongly.
TEST(RunPipeline, WhatTheCompilerMadeItselfIsItsOwnFault) {
  expectFailure(planned(R"(
    sync.problem @stale layers ["first"] bytes [4000] ready <[1.0]>
      merge_classes [#sync.merge_class<[<ring, cost = #cluster.affine<a = 1.0, b = 0.0>, traffic = 2.0>]>]
      forward_end 0.0 backward_end 1.0 updates 0.0)"),
                3, "expected one problem and one solution of a cluster");
}

// The mark is not part of what people read, and is found where it is.
TEST(Refusal, MarksALocation) {
  mlir::MLIRContext context;
  const mlir::Location plain = mlir::FileLineColLoc::get(&context, "model.onnx", 3, 4);
  EXPECT_FALSE(refusedAt(plain));
  std::optional<mlir::Location> marked;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    marked = diagnostic.getLocation();
    EXPECT_EQ(diagnostic.str(), "too large");
  });
  refuse(plain) << "too large";
  ASSERT_TRUE(marked);
  EXPECT_EQ(refusedAt(*marked), plain);
}

} // namespace
} // namespace syncline
