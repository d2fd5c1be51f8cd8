// Errors and help of command lines.
#include "runtime/launch/CommandLine.h"

#include "runtime/launch/CommandLineText.h"
#include "runtime/launch/Processors.h"
#include "syncline/Printable.h"
#include "tests/support/TemporaryFolder.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>

namespace syncline {
namespace {

using namespace launch;
namespace fs = std::filesystem;

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
class CommandLine : public ::testing::Test {
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

TEST_F(CommandLine, SaysHowOftenAnOptionWasGiven) {
  EXPECT_EQ(said({"a.plan", "-o", "x", "--momentum", "1", "--momentum", "2"}),
            "--momentum: expected once, got it 2 times; '--help' lists the options");
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

/// A command line with inputs and outputs, in a folder of its own.
class OutputClash : public ::testing::Test {
protected:
  OutputClash() {
    app.add_option("PLAN", texts[0]);
    app.add_option("--data", texts[1]);
    app.add_option("-o,--output", texts[2]);
    app.add_option("--save", texts[3]);
    app.add_option("--dump", texts[4]);
    for (const char *folder : {"a.plan", "a.plan/ck", "images", "images/cats"})
      fs::create_directory(files.file(folder));
    for (const char *file : {"a.plan/plan.json", "a.plan/old.onnx", "x.npy", "images/cats/1.JPG"})
      std::ofstream(files.file(file)) << "kept";
    fs::create_symlink("x.npy", files.file("link"));
  }

  /// The clash of these options and paths.
  std::string of(const std::vector<std::pair<std::string, std::string>> &options) {
    std::vector<std::string> words{files.file("a.plan")};
    for (const auto &[option, path] : options)
      words.insert(words.begin(), {files.file(path), option});
    app.parse(words); // the last word first
    const std::string said = outputClash(app);
    const std::size_t at = said.find(files.file(""));
    return at == std::string::npos ? said
                                   : said.substr(0, at) + said.substr(at + files.file("").size());
  }

  test::TemporaryFolder files;
  CLI::App app{"", "program"};
  std::string texts[5];
};

TEST_F(OutputClash, NoOutputIsAnInput) {
  const std::string data = "," + files.file("y.npy");
  for (const char *path : {"x.npy", "link", "a.plan/../x.npy"})
    EXPECT_EQ(of({{"--save", path}, {"--data", "x.npy" + data}}),
              "--save: '" + std::string(path) + "' is read by --data; expected another file");
  EXPECT_EQ(of({{"--save", "images/cats/1.JPG"}, {"--data", "images"}}),
            "--save: 'images/cats/1.JPG' is read by --data; expected another file");
  EXPECT_EQ(of({{"--save", "a.plan/plan.json"}}),
            "--save: 'a.plan/plan.json' is read by PLAN; expected another file");
  EXPECT_NE(of({{"--output", "a.plan"}, {"--data", "a.plan/old.onnx"}}).find("would replace"),
            std::string::npos);
}

TEST_F(OutputClash, NoOutputIsReadWithAnInput) {
  std::vector<std::string> asked;
  const auto filesOf = [&](const std::string &path) {
    asked.push_back(path);
    return std::vector<std::string>{files.file("x.npy")};
  };
  app.parse(std::vector<std::string>{files.file("a.plan"), files.file("new"), "--save"});
  EXPECT_EQ(outputClash(app, filesOf), "");
  EXPECT_TRUE(asked.empty()); // a new file destroys nothing
  app.parse(std::vector<std::string>{files.file("a.plan"), files.file("link"), "--save"});
  EXPECT_EQ(outputClash(app, filesOf),
            "--save: '" + files.file("link") + "' is read by PLAN; expected another file");
}

TEST_F(OutputClash, NoOutputIsAnotherOne) {
  for (const char *path : {"new", "x.npy"})
    EXPECT_EQ(of({{"--save", path}, {"--output", path}}),
              "--save: '" + std::string(path) +
                  "' is written by --output, too; expected another place");
  EXPECT_NE(of({{"--save", "new.plan/layers.csv"}, {"--output", "new.plan"}}), "");
}

TEST_F(OutputClash, LeavesRoomForOthers) {
  for (const char *path : {"new", "a.plan/new.onnx", "a.plan/old.onnx", "images/new.onnx", "y.npy"})
    EXPECT_EQ(of({{"--save", path}, {"--data", "x.npy"}, {"--dump", "a.plan/ck"}}), "") << path;
  EXPECT_EQ(of({{"--dump", "a.plan"}}), "");
  app.parse("--save /dev/null --output /dev/null");
  EXPECT_EQ(outputClash(app), "");
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

TEST(Printable, IsOneLineOfUtf8) {
  EXPECT_EQ(printable("a 'ä€😀'"), "a 'ä€😀'");
  EXPECT_EQ(printable("a\nb\r\t\x1b[31m\x7f" + std::string(1, '\0') + "c"), "a?b???[31m??c");
  EXPECT_EQ(printable("\xc2\x85|\xc2\x9b|\xc2\xa0"), "?|?|\xc2\xa0"); // C1: a line break, CSI
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(printable("\xff|\xc3|\xc0\x8a|\xed\xa0\x80|\xe2\x82"),
            bad + "|" + bad + "|" + bad + bad + "|" + bad + bad + bad + "|" + bad + bad);
}

// What is wrong stays readable however long the value is.
TEST(Printable, IsShort) {
  EXPECT_EQ(printable("got '" + std::string(3'000'000, 'm') + "', expected '1'", 80),
            "got 'mmmmmmmmmm..', expected '1'");
  EXPECT_EQ(printable(std::string(99, 'm'), 9), "mmmmmmmmm..");
  EXPECT_EQ(printable("mmmmmmmä€", 9), "mmmmmmmä..");
  EXPECT_EQ(printable("'open " + std::string(99, 'm'), 9), "'open mmm..");
  EXPECT_EQ(printable(std::string(4000, 'x')).size(), 4000u);
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
