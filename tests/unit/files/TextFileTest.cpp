// Reading files: what is missing, too big, a directory or no text.
#include "frontend/files/TextFile.h"
#include "frontend/files/ClusterFile.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace syncline::files {
namespace {

// A missing file and a directory are named.
TEST(TextFile, Unreadable) {
  EXPECT_EQ(readTextFile("/nowhere/c.yaml", 10).status().message(),
            "/nowhere/c.yaml: cannot open: No such file or directory");
  EXPECT_EQ(readTextFile("/", 10).status().message(), "/: expected a file, got a directory");
  EXPECT_EQ(readClusterFile("/nowhere/c.yaml").status().exitCode(), 1);
}

// Reading stops at the limit, also in a file without end.
TEST(TextFile, TooBig) {
  const auto path = std::filesystem::temp_directory_path() / "syncline-text-file-test";
  std::ofstream(path) << "0123456789";
  EXPECT_EQ(*readTextFile(path, 10), "0123456789");
  EXPECT_EQ(readTextFile(path, 9).status().message(),
            path.string() + ": expected at most 9 bytes, got more");
  std::filesystem::remove(path);
  EXPECT_FALSE(readTextFile("/dev/zero", 1 << 20));
}

// UTF-8 passes, whatever its length; broken, overlong and surrogate forms do not.
TEST(TextFile, Utf8) {
  EXPECT_TRUE(checkText("a\u00E9\u20AC\U0001F600", "f"));
  EXPECT_EQ(*checkText("\xEF\xBB\xBFx", "f"), "x");
  using namespace std::string_literals;
  for (const std::string &bad : {"\xFF"s, "\x80"s, "\xC3"s, "\xC0\xAF"s, "\xE0\x80\xAF"s,
                                 "\xED\xA0\x80"s, "\xF4\x90\x80\x80"s, "\xE2\x82"s, "a\0b"s})
    EXPECT_FALSE(checkText(bad, "f"));
  EXPECT_EQ(checkText("a\nb\xFF", "f").status().message(),
            "f:2: expected UTF-8 text, got a byte of another kind");
}

} // namespace
} // namespace syncline::files
