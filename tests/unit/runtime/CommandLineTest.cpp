// Errors and help of command lines.
#include "runtime/launch/CommandLine.h"

#include "runtime/launch/CommandLineText.h"
#include "runtime/launch/Processors.h"
#include "tests/support/TemporaryFolder.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace launch;

// A control group's own limit, or a lower one of a group around it, says how many processors a
// process may keep busy.
TEST(Processors, Quota) {
  const test::TemporaryFolder root;
  const auto write = [&](const std::string &name, const std::string &text) {
    std::filesystem::create_directories(std::filesystem::path(root.file(name)).parent_path());
    std::ofstream(root.file(name)) << text;
  };
  const auto quota = [&] { return processorQuota(root.path, "/pods/one"); };
  EXPECT_TRUE(std::isinf(quota()));
  write("pods/one/cpu.max", "max 100000\n");
  EXPECT_TRUE(std::isinf(quota()));
  write("pods/one/cpu.max", "250000 100000\n");
  EXPECT_EQ(quota(), 2.5);
  write("cpu.max", "20000 100000\n");
  EXPECT_EQ(quota(), 0.2);
  write("cpu/cpu.cfs_quota_us", "-1\n");
  write("cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), 0.2);
  write("cpu/cpu.cfs_quota_us", "10000\n");
  EXPECT_EQ(quota(), 0.1);
}

/// A program with one required option, and a subcommand with another.
class CommandLine : public testing::Test {
protected:
  CommandLine() {
    app.add_option("PLAN", plan)->required();
    app.add_option("--momentum", momentum, "Of the optimizer");
    app.add_option("--backend", backend, "Where to compute")->check(oneOf({"cpu", "cuda"}));
    app.add_option("-o,--output", output, "What to write")->required();
    sub = app.add_subcommand("train", "Trains");
    sub->add_option("--shuffle", order, "In which order");
  }

  std::string said(std::vector<std::string> words) {
    try {
      std::reverse(words.begin(), words.end());
      app.parse(std::move(words));
    } catch (const CLI::ParseError &error) {
      return usageMessage(app, error);
    }
    return "";
  }

  CLI::App app{"", "program"};
  CLI::App *sub = nullptr;
  std::string plan, momentum, backend, output, order;
};

TEST_F(CommandLine, NamesTheOptionThatWasMeant) {
  EXPECT_EQ(said({"a.plan", "-o", "x", "--momentun", "1"}),
            "unknown option '--momentun', did you mean '--momentum'?");
  EXPECT_EQ(said({"a.plan", "-o", "x", "--momentun=1"}),
            "unknown option '--momentun', did you mean '--momentum'?");
  EXPECT_EQ(said({"a.plan", "-o", "x", "--nothing-like-it"}),
            "unknown option '--nothing-like-it'; '--help' lists the options");
}

// What is missing may be what was misspelt.
TEST_F(CommandLine, UnknownOptionsCountBeforeMissingOnes) {
  EXPECT_EQ(said({"a.plan", "--otput", "x"}), "unknown option '--otput', did you mean '--output'?");
  EXPECT_EQ(said({"a.plan"}), "--output is required; '--help' lists the options");
}

TEST_F(CommandLine, LooksIntoTheSubcommandThatWasGiven) {
  EXPECT_EQ(said({"a.plan", "-o", "x", "train", "--shufle", "1"}),
            "unknown option '--shufle', did you mean '--shuffle'?");
  EXPECT_EQ(said({"a.plan", "-o", "x", "--shufle", "1"}),
            "unknown option '--shufle'; '--help' lists the options");
}

TEST_F(CommandLine, NamesTheArgumentTooMany) {
  EXPECT_EQ(said({"a.plan", "b.plan", "c.plan", "-o", "x"}),
            "unexpected argument 'b.plan'; '--help' lists the options");
}

TEST_F(CommandLine, NamesTheValueThatWasMeant) {
  EXPECT_EQ(said({"a.plan", "-o", "x", "--backend", "cdua"}),
            "--backend: unknown value 'cdua', did you mean 'cuda'?");
  EXPECT_EQ(said({"a.plan", "-o", "x", "--backend", "tpu"}),
            "--backend: unknown value 'tpu', did you mean 'cpu'?");
  EXPECT_EQ(said({"a.plan", "-o", "x", "--backend", "quantum"}),
            "--backend: unknown value 'quantum', expected one of 'cpu', 'cuda'; '--help' lists the "
            "options");
}

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 100), "one two three");
  EXPECT_EQ(wrapped("one two three", 7), "one two\n  three");
  EXPECT_EQ(wrapped("one two three four", 9), "one two\n  three\n  four");
  EXPECT_EQ(wrapped("a\n  item: some text", 12), "a\n  item: some\n    text");
  EXPECT_EQ(wrapped("", 10), "");
}

// A word that is longer than a line stays whole.
TEST(Wrapped, BreaksNoWords) {
  EXPECT_EQ(wrapped("incomprehensible", 5), "incomprehensible");
  EXPECT_EQ(wrapped("incomprehensible word", 5), "incomprehensible\n  word");
}

TEST_F(CommandLine, HelpFitsTheTerminal) {
  CLI::App narrow{"", "program"};
  narrow.formatter(helpFormatter());
  narrow.add_option("FILE", plan)->required();
  narrow.add_option("--text", output, "A text of several words that go on and on and on and on");
  setenv("COLUMNS", "60", 1);
  const std::string help = narrow.help();
  unsetenv("COLUMNS");
  EXPECT_NE(help.find("FILE (required) "), std::string::npos) << help;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 60u) << line;
  EXPECT_NE(help.find("A text of several words that\n"), std::string::npos) << help;
}

TEST(ShellLine, QuotesWhatAShellWouldTakeApart) {
  EXPECT_EQ(shellLine({"syncline", "inspect", "out/a-b_1.plan"}),
            "syncline inspect out/a-b_1.plan");
  EXPECT_EQ(shellLine({"inspect", "it's", "a b", "$x", ""}), "inspect 'it'\\''s' 'a b' '$x' ''");
  EXPECT_EQ(shellLine({"a\x1b[31m\n"}), "'a?[31m?'");
}

TEST(ClosingLines, SayWhatWasWrittenAndWhatComesNext) {
  EXPECT_EQ(closingLines("a.yaml", "4 ranks", {"syncline", "compile"}),
            "wrote a.yaml: 4 ranks\nnext: syncline compile\n");
  EXPECT_EQ(closingLines("a\nb", "", {"x"}), "wrote a?b\nnext: x\n");
}

} // namespace
} // namespace syncline
