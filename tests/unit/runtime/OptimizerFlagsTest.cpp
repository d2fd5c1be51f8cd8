// The optimizer's switches: defaults, groups, and flags that an optimizer does not have.
#include "runtime/run/options/OptimizerFlags.h"

#include "runtime/launch/CommandLine.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <CLI/CLI.hpp>

namespace syncline::run {
namespace {

/// What a command line with these words says, or why it is refused, without the hint at '--help'.
struct Parsed {
  explicit Parsed(std::vector<std::string> words) {
    CLI::App app{"", "program"};
    flags.addTo(app);
    try {
      std::reverse(words.begin(), words.end());
      app.parse(std::move(words));
    } catch (const CLI::ParseError &error) {
      const std::string hint = "; '--help' lists the options";
      said = launch::usageMessage(app, error);
      said = said.ends_with(hint) ? said.substr(0, said.size() - hint.size()) : said;
    }
  }
  OptimizerFlags flags;
  std::string said;
};

core::StepTensor tensor(const std::string &name, Space space = Space::parameters) {
  core::StepTensor made;
  made.name = name;
  made.space = space;
  return made;
}

TEST(OptimizerFlags, DefaultsArePyTorchs) {
  const OptimizerFlags none;
  const core::OptimizerOptions sgd = *none.optionsFor(OptimizerKind::sgd);
  EXPECT_EQ(sgd.rate, 0.01);
  EXPECT_EQ(sgd.weightDecay, 0);
  const core::OptimizerOptions adam = *none.optionsFor(OptimizerKind::adam);
  EXPECT_EQ(adam.rate, 1e-3);
  EXPECT_EQ(adam.weightDecay, 0);
  EXPECT_EQ(adam.beta1, 0.9);
  EXPECT_EQ(adam.beta2, 0.999);
  EXPECT_EQ(adam.epsilon, 1e-8);
  EXPECT_EQ((*none.optionsFor(OptimizerKind::adamw)).weightDecay, 1e-2);
  const core::OptimizerOptions lamb = *none.optionsFor(OptimizerKind::lamb); // the authors'
  EXPECT_EQ(lamb.rate, 1e-3);
  EXPECT_EQ(lamb.weightDecay, 1e-2);
  EXPECT_EQ(lamb.epsilon, 1e-6);
}

TEST(OptimizerFlags, FlagsReachTheOptions) {
  const Parsed adam(
      {"--lr", "0.25", "--betas", "0.5,0.75", "--eps", "1e-3", "--weight-decay", "2"});
  ASSERT_EQ(adam.said, "");
  const core::OptimizerOptions options = *adam.flags.optionsFor(OptimizerKind::adam);
  EXPECT_EQ(options.rate, 0.25);
  EXPECT_EQ(options.beta1, 0.5);
  EXPECT_EQ(options.beta2, 0.75);
  EXPECT_EQ(options.epsilon, 1e-3);
  EXPECT_EQ(options.weightDecay, 2);
  EXPECT_EQ(adam.flags.text(options), "--lr 0.25 --betas 0.5,0.75 --eps 0.001 --weight-decay 2");
  const Parsed sgd({"--momentum", "0.5", "--nesterov", "--group", "a*:lr=1"});
  const core::OptimizerOptions nesterov = *sgd.flags.optionsFor(OptimizerKind::sgd);
  EXPECT_TRUE(nesterov.nesterov);
  EXPECT_EQ(sgd.flags.text(nesterov),
            "--lr 0.01 --momentum 0.5 --weight-decay 0 --nesterov --group a*:lr=1");
}

TEST(OptimizerFlags, RefusesFlagsOfOtherOptimizers) {
  const auto refused = [](std::vector<std::string> words, OptimizerKind kind) {
    const auto options = Parsed(std::move(words)).flags.optionsFor(kind);
    EXPECT_EQ(options.status().kind(), ErrorKind::badUsage);
    return options.status().message();
  };
  EXPECT_EQ(refused({"--momentum", "0"}, OptimizerKind::adamw),
            "--momentum is for '--optimizer sgd', the plan is compiled for 'adamw'");
  EXPECT_EQ(refused({"--nesterov"}, OptimizerKind::adam),
            "--nesterov is for '--optimizer sgd', the plan is compiled for 'adam'");
  EXPECT_EQ(refused({"--betas", "0.9,0.99"}, OptimizerKind::sgd),
            "--betas is for '--optimizer adam', 'adamw' or 'lamb', the plan is compiled for 'sgd'");
  EXPECT_EQ(refused({"--eps", "1e-6"}, OptimizerKind::sgd),
            "--eps is for '--optimizer adam', 'adamw' or 'lamb', the plan is compiled for 'sgd'");
  EXPECT_EQ(refused({"--lr", "0", "--group", "*:lr=1"}, OptimizerKind::sgd),
            "--group '*:lr=1': its lr is relative to --lr, expected an --lr above 0");
  EXPECT_EQ(Parsed({"--nesterov"}).flags.check().message(), "--nesterov needs --momentum");
}

TEST(OptimizerFlags, RefusesWhatIsNoNumberOrGroup) {
  for (const std::string text : {"0.9", "0.9,", "0.9,1", "-0.1,0.9", "0.9,0.9,0.9", "a,b", "nan,0"})
    EXPECT_EQ(Parsed({"--betas", text}).said,
              "--betas: expected two numbers from 0 to below 1, such as '0.9,0.999', got '" + text +
                  "'");
  const auto group = [](const std::string &text) { return Parsed({"--group", text}).said; };
  for (const std::string text : {"fc.bias", "fc:", ":lr=1"})
    EXPECT_EQ(group(text), "--group: expected 'GLOB:lr=X,weight-decay=Y', got '" + text + "'");
  EXPECT_EQ(group("fc:rate=1"),
            "--group: expected lr=X or weight-decay=X behind the colon, got 'fc:rate=1'");
  EXPECT_EQ(group("fc:lr=1,lr=2"), "--group: expected lr once, got 'fc:lr=1,lr=2'");
  EXPECT_EQ(group("fc:weight-decay=-1"),
            "--group: expected a number from 0 to 1e30 for weight-decay, got 'fc:weight-decay=-1'");
  EXPECT_EQ(group("fc:lr"), "--group: expected a number from 0 to 1e30 for lr, got 'fc:lr'");
}

// The last group that matches counts, whole; names may contain colons; other spaces do not match.
TEST(OptimizerFlags, TheLastGroupThatMatchesCounts) {
  const Parsed parsed({"--lr", "0.5", "--group", "*.bias:weight-decay=0", "--group",
                       "fc?.*:lr=1,weight-decay=0.25", "--group", "a:[xy]:lr=0"});
  ASSERT_EQ(parsed.said, "");
  const core::OptimizerOptions options = *parsed.flags.optionsFor(OptimizerKind::adamw);
  const std::vector<core::StepTensor> tensors{tensor("conv.weight"), tensor("conv.bias"),
                                              tensor("conv.bias", Space::gradients),
                                              tensor("fc1.bias"), tensor("a:y")};
  const auto rules = parsed.flags.rules(tensors, options);
  ASSERT_TRUE(rules.isOk()) << rules.status().message();
  const std::map<int, core::ParameterRule> expected{{1, {1, 0.0}}, {3, {2, 0.25}}, {4, {0, {}}}};
  EXPECT_EQ(*rules, expected);
  const std::vector<core::StepTensor> none{tensor("conv.weight")};
  EXPECT_EQ(parsed.flags.rules(none, options).status().message(),
            "--group '*.bias:weight-decay=0': no trained parameter's name matches '*.bias'");
}

} // namespace
} // namespace syncline::run
