// Files of offers: what they say, and one message for each mistake.
#include "frontend/files/OffersFile.h"

#include <gtest/gtest.h>

using namespace syncline;
using namespace syncline::files;

namespace {

std::string refused(const std::string &text) {
  Result<OffersFile> file = parseOffers(text, "o.yaml");
  return file ? "" : file.status().message();
}

constexpr const char *good = "samples: 5000\noffers: [{name: a, cluster: dgx-a100, price: 2.5}]\n";

} // namespace

TEST(OffersFileTest, ReadsOffers) {
  Result<OffersFile> file = parseOffers("samples: 5000\ndoubt: 0.25\noffers:\n  - {name: a b, "
                                        "cluster: lab.yaml, nodes: 2, price: 2.5}\n"
                                        "  - {name: c, cluster: dgx-a100, price: 30}\n",
                                        "o.yaml");
  ASSERT_TRUE(file) << file.status().message();
  EXPECT_EQ(file->samples, 5000);
  EXPECT_EQ(file->doubt, 0.25);
  ASSERT_EQ(file->offers.size(), 2u);
  EXPECT_EQ(file->offers[0].name, "a b");
  EXPECT_EQ(file->offers[0].cluster, "lab.yaml");
  EXPECT_EQ(file->offers[0].nodes, 2);
  EXPECT_EQ(file->offers[0].price, 2.5);
  EXPECT_FALSE(file->offers[1].nodes);
  EXPECT_FALSE(parseOffers(good, "o.yaml")->doubt);
}

TEST(OffersFileTest, RefusesMistakes) {
  const std::string one = "{name: a, cluster: x, price: 1}";
  for (const auto &[text, said] : std::initializer_list<std::pair<std::string, std::string>>{
           {"offers: [" + one + "]", "'samples'"},
           {"samples: 0\noffers: [" + one + "]", "o.yaml:1:10: 'samples': expected"},
           {"samples: 5\n", "'offers'"},
           {"samples: 5\noffers: []", "'offers': expected from 1 to 100 offers, got 0"},
           {"samples: 5\noffers: " + one, "'offers': expected a list of offers"},
           {"samples: 5\ndoubt: 0\noffers: [" + one + "]", "'doubt': expected a number above 0"},
           {"samples: 5\ndoubt: 1.5\noffers: [" + one + "]", "'doubt': expected a number above 0"},
           {"samples: 5\noffers: [" + one + ", " + one + "]", "'a' is offered twice"},
           {"samples: 5\noffers: [{name: a, cluster: x}]", "'price'"},
           {"samples: 5\noffers: [{name: a, cluster: x, price: free}]", "got 'free'"},
           {"samples: 5\noffers: [{name: a, cluster: x, price: -1}]", "got '-1'"},
           {"samples: 5\noffers: [{name: a, price: 1}]", "'cluster'"},
           {"samples: 5\noffers: [{name: '', cluster: x, price: 1}]", "expected a name"},
           {"samples: 5\noffers: [{name: a, cluster: x, price: 1, nodes: 0}]", "nodes"},
           {"samples: 5\noffers: [{name: a, clutser: x, price: 1}]", "did you mean 'cluster'?"},
           {"samples: 5\nofers: []", "did you mean 'offers'?"},
       })
    EXPECT_NE(refused(text).find(said), std::string::npos) << text << ": " << refused(text);
}
