// The digest without a library, beside that of libcrypto.
#include "runtime/core/TextDigest.h"

#include "runtime/run/checkpoint/Sha256.h"

#include <gtest/gtest.h>

namespace syncline::core {
namespace {

TEST(TextDigest, IsThatOfTheStandard) {
  EXPECT_EQ(digestOf("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(digestOf(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
}

/// Every length of the last block, and bytes above 127.
TEST(TextDigest, IsThatOfLibcrypto) {
  std::string text;
  for (int length = 0; length < 200; ++length) {
    EXPECT_EQ(digestOf(text), run::sha256(text)) << length;
    text += static_cast<char>(length * 37);
  }
  text.assign(100'000, 'a');
  EXPECT_EQ(digestOf(text), run::sha256(text));
}

} // namespace
} // namespace syncline::core
