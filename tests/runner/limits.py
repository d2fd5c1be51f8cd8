"""What one test of the short run may compute, so that the run stays short."""

MOST = 20  # seconds of processors
# A slow or shared processor takes longer over every test, so there the limit is this share of what
# all tests took: 20 s of the 1,000 s that they take on a fast one.
SHARE = 0.02

# Tests that may take longer, and why they are in the short run.
SLOW = {
    "lit/lit": "131 tests in one run of lit",
    "e2e/test_quickstart.QuickstartTest.test_measures_the_machine": "the README's first command",
    "e2e/test_readme.ReadmeTest.test_small_gpt": "a page's commands, which train a transformer",
    "e2e/test_readme.ReadmeTest.test_hugging_face": "a page's commands, by transformers",
    "e2e/test_torch_sample.TorchSampleTest.test_readme_holds": "a page's commands, two of torchrun",
    "numerics/test_hugging_face.HuggingFaceTest.test_unedited_exports": "two models' exports",
    "numerics/test_stock_transformers.StockTransformersTest.test_on_one_rank": "six models",
}


def judge(outcomes, listed=SLOW):
    """A message for each test above the limit that is not on the list. Expects a whole run."""
    most = max(MOST, SHARE * sum(one.cpu for one in outcomes))
    slow = [one for one in outcomes if one.cpu > most and one.test not in listed]
    return [
        f"{one.test}: {one.cpu:.0f} s of processors, at most {most:.0f}; shorten it, leave it to"
        " the long run, or list it in tests/runner/limits.py with the reason"
        for one in slow
    ]
