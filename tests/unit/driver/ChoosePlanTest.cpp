// Which of several plans, or forms of consistency, is taken, and which plans are not made.
#include "passes/candidates/ChooseForm.h"

#include "passes/solver/Planner.h"
#include "tests/unit/driver/Dialects.h"

#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace syncline::candidates {
namespace {

/// A cluster of four ranks whose link has these seconds of latency and for a byte.
std::string clusterWith(const std::string &alpha, const std::string &beta) {
  return R"(module attributes {cluster.spec = #cluster.spec<name = "c", ranks = 4, device =
           <compute = 1.0e10, memory = 1.0e10, launchOverhead = 0.0>, link = <alpha = )" +
         alpha + ", beta = " + beta + ", gamma = 0.0>>} {";
}

mlir::OwningOpRef<mlir::ModuleOp> parsed(const std::string &text) {
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &test::dialects());
  EXPECT_TRUE(module);
  return module;
}

/// Three layers of a trace.
mlir::OwningOpRef<mlir::ModuleOp> traceOn(const std::string &cluster) {
  return parsed(cluster + R"(sync.trace @t {
    sync.layer "first" bytes 4000 forward 1.0e-3 backward 1.0e-4
    sync.layer "second" bytes 4000 forward 1.0e-3 backward 1.0e-4
    sync.layer "third" bytes 4000 forward 1.0e-3 backward 1.0e-4
  }})");
}

/// Two layers of a model.
mlir::OwningOpRef<mlir::ModuleOp> stepOn(const std::string &cluster) {
  const std::string attributes =
      "strides = array<i64: 1>, dilations = array<i64: 1>, pads_begin = array<i64: 0>, "
      "pads_end = array<i64: 0>, groups = 1 : i64, nn.layer = ";
  const std::string type = ": (tensor<8x64x64xf32>, tensor<64x64x1xf32>) -> tensor<8x64x64xf32>\n";
  return parsed(
      cluster + R"(nn.step @step batch 8 {
    %x = nn.input "x" : tensor<8x64x64xf32>
    %t = nn.target "t" : tensor<8x64x64xf32>
    %v = nn.parameter "v" at 0 : tensor<64x64x1xf32>
    %w = nn.parameter "w" at 16384 : tensor<64x64x1xf32>
    %a = nn.conv %x, %v {)" +
      attributes + "\"first\"}" + type + "%b = nn.conv %a, %w {" + attributes + "\"second\"}" +
      type +
      R"(%l, %d = nn.mean_squared_error %b, %t : (tensor<8x64x64xf32>, tensor<8x64x64xf32>)
      -> (tensor<f32>, tensor<8x64x64xf32>)
    nn.output %b "y" : tensor<8x64x64xf32>
    nn.loss %l : tensor<f32>
  }})");
}

Request asking(const std::string &planner) {
  Request request;
  request.asked.planner = *solver::parsePlanner(planner);
  return request;
}

/// A choice, and how often each phase of planning was entered.
struct Chosen {
  Result<Choice> choice = Status::badInput("none");
  int steps = 0, solutions = 0, plans = 0;

  Chosen(
      const Request &request, mlir::ModuleOp source,
      const ExpectFits &fits = [](const Candidate &, mlir::ModuleOp) { return Status::ok(); }) {
    const EnterPhase enter = [this](const std::string &phase) {
      steps += phase == "differentiating";
      solutions += phase == "planning"; // a step's times, too
      plans += phase == "lowering";
    };
    choice = choosePlan(request, source, fits, enter);
  }

  const Candidate &candidate() const { return choice->outcomes[choice->chosen].candidate; }
};

// 1 ms of latency for each round: 18 in one message after the other.
const std::string slow = clusterWith("1.0e-3", "1.0e-12");
const std::string wide = clusterWith("0.0", "1.0e-7");
const std::string fast = clusterWith("1.0e-9", "1.0e-15");

TEST(ChoosePlan, ListsWhatIsOpen) {
  const auto module = stepOn(slow);
  Request request = asking("optimal");
  EXPECT_EQ(candidatesOf(request, *module).size(), 1u);
  request.opensOverlap = request.opensSplit = true; // no table is tied
  std::vector<Candidate> all = candidatesOf(request, *module);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].overlap, "backward");
  EXPECT_EQ(all[1].overlap, "step");
  EXPECT_EQ(all[2].planner->name(), "single");
  request.opensChannels = true;
  EXPECT_EQ(candidatesOf(request, *module).size(), 6u);
  request.asked.clipNorm = 1; // updates wait for the norm
  EXPECT_EQ(candidatesOf(request, *module).size(), 4u);
  request.opensChannels = false;
  request.asked.clipNorm = 0;
  request.asked.accumulate = 4;
  EXPECT_EQ(candidatesOf(request, *module).size(), 6u);
  request.asked.planner = *solver::parsePlanner("wfbp"); // follows a system
  all = candidatesOf(request, *module);
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].overlap, "backward");
}

TEST(ChoosePlan, MakesTheStepOnce) {
  const auto module = stepOn(slow);
  Request request = asking("optimal");
  request.opensOverlap = true;
  const Chosen chosen(request, *module);
  ASSERT_TRUE(chosen.choice) << chosen.choice.status().message();
  EXPECT_EQ(chosen.steps, 1);
  EXPECT_GT(chosen.plans, 1);
}

// Where messages cost less than 1 % of the step, no other plan saves as much.
TEST(ChoosePlan, PlansNothingThatCannotWin) {
  const auto module = stepOn(fast);
  Request request = asking("optimal");
  request.opensOverlap = request.opensChannels = true;
  const Chosen chosen(request, *module);
  ASSERT_TRUE(chosen.choice) << chosen.choice.status().message();
  EXPECT_EQ(chosen.plans, 1);
  EXPECT_EQ(chosen.choice->outcomes.size(), 6u);
  EXPECT_FALSE(canGain(*chosen.choice->plan));
  for (const Outcome &other : chosen.choice->outcomes)
    EXPECT_EQ(other.step.has_value(), &other == &chosen.choice->outcomes[0]);
}

// One message behind the backward pass cannot end sooner than all bytes take to travel.
TEST(ChoosePlan, BoundsTheStepOfOneMessage) {
  const auto module = stepOn(wide);
  Request request = asking("optimal");
  request.opensOverlap = true;
  const Chosen chosen(request, *module);
  ASSERT_TRUE(chosen.choice) << chosen.choice.status().message();
  const Outcome &bounded = chosen.choice->outcomes.back();
  ASSERT_EQ(bounded.candidate.planner->name(), "single");
  EXPECT_FALSE(bounded.step);
  const Chosen single(asking("single"), *module);
  ASSERT_TRUE(single.choice);
  EXPECT_LE(bounded.least, stepOf(*single.choice->plan));
  EXPECT_GT(bounded.least, 0.8 * stepOf(*single.choice->plan));
}

// The rule is one for all that is open: 1 % of the step.
TEST(ChoosePlan, TakesTheSimplerPlanUnlessOnePercentIsSaved) {
  for (const auto &[cluster, channels] : {std::pair(slow, 2), {wide, 1}, {fast, 1}}) {
    const auto module = traceOn(cluster);
    Request request = asking("wfbp");
    const Chosen one(request, *module);
    request.asked.channels = 2;
    const Chosen two(request, *module);
    request.opensChannels = true;
    const Chosen chosen(request, *module);
    ASSERT_TRUE(one.choice && two.choice && chosen.choice);
    const double simple = stepOf(*one.choice->plan), other = stepOf(*two.choice->plan);
    EXPECT_EQ(other < simple * (1 - leastGain), channels == 2) << other << " " << simple;
    EXPECT_EQ(chosen.candidate().channels, channels);
    EXPECT_EQ(chosen.solutions, 1); // of which two channels make another plan
    EXPECT_EQ(stepOf(*chosen.choice->plan), channels == 2 ? other : simple);
  }
}

TEST(ChoosePlan, LeavesOutWhatIsRefused) {
  const auto module = stepOn(slow);
  Request request = asking("optimal");
  request.opensOverlap = true;
  const auto refusing = [](const std::string &overlap, ErrorKind kind) -> ExpectFits {
    return [=](const Candidate &candidate, mlir::ModuleOp) {
      return candidate.overlap == overlap || overlap == "both"
                 ? Status::error(kind, "too large for " + candidate.overlap)
                 : Status::ok();
    };
  };
  const Chosen other(request, *module, refusing("backward", ErrorKind::badInput));
  ASSERT_TRUE(other.choice);
  EXPECT_EQ(other.candidate().overlap, "step");
  EXPECT_EQ(other.choice->outcomes[0].status.message(), "too large for backward");
  const Chosen none(request, *module, refusing("both", ErrorKind::badInput));
  ASSERT_FALSE(none.choice);
  EXPECT_EQ(none.choice.status().message(), "too large for backward");
  // A fault of the compiler is told, though another plan would do.
  const Chosen wrong(request, *module, refusing("step", ErrorKind::internal));
  ASSERT_FALSE(wrong.choice);
  EXPECT_EQ(wrong.choice.status().kind(), ErrorKind::internal);
}

/// Chooses among forms whose steps take so many seconds, and plans nothing. A form without seconds
/// is refused.
Result<FormChoice> formOf(const std::vector<std::string> &forms,
                          const std::map<std::string, double> &seconds,
                          std::vector<Request> &planned, ErrorKind refused = ErrorKind::badInput) {
  Request request = asking("optimal");
  request.opensOverlap = true;
  const PlanOneForm plan = [&planned](const Request &one) -> Result<Choice> {
    planned.push_back(one);
    Choice choice;
    choice.plan = parsed("module {}");
    choice.outcomes.push_back(Outcome{.candidate = one.asked});
    return choice;
  };
  const SimulateForm simulate = [&](mlir::ModuleOp, const std::string &form) -> Result<double> {
    const auto found = seconds.find(form);
    if (found == seconds.end())
      return Status::error(refused, "no " + form);
    return found->second;
  };
  return chooseForm(request, forms, plan, simulate);
}

TEST(ChooseForm, TakesTheShortestStepAndOfEqualOnesTheFirst) {
  std::vector<Request> planned;
  const auto best = formOf({"asp", "bsp", "ssp:3", "dssp:3,15"},
                           {{"bsp", 2}, {"ssp:3", 1}, {"dssp:3,15", 1}}, planned);
  ASSERT_TRUE(best) << best.status().message();
  EXPECT_EQ(best->choice.outcomes[0].candidate.consistency, "ssp:3");
  ASSERT_EQ(best->refused.size(), 1u);
  EXPECT_EQ(best->refused[0].form + ", " + best->refused[0].reason, "asp, no asp");
  ASSERT_EQ(planned.size(), 4u);
  for (const Request &one : planned) { // weights have nothing to hide behind the next step
    EXPECT_EQ(one.opensOverlap, one.asked.consistency == "bsp");
    EXPECT_EQ(one.asked.overlap, "backward");
  }
}

TEST(ChooseForm, NamesTheFirstFormWhereAllAreRefused) {
  std::vector<Request> planned;
  const auto none = formOf({"asp", "ssp:3"}, {}, planned);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.status().message(), "'asp': no asp");
  EXPECT_EQ(none.status().kind(), ErrorKind::badInput);
}

// A fault of the compiler is no refusal of a form.
TEST(ChooseForm, TellsFaults) {
  std::vector<Request> planned;
  const auto fault = formOf({"asp", "bsp"}, {{"bsp", 2}}, planned, ErrorKind::internal);
  ASSERT_FALSE(fault);
  EXPECT_EQ(fault.status().kind(), ErrorKind::internal);
  EXPECT_EQ(planned.size(), 1u);
}

} // namespace
} // namespace syncline::candidates
