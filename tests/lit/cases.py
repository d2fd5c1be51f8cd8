"""The format of the lit tests: a test that patches a base is written out before it runs."""

import os

import lit.formats
import lit.Test
import lit.TestRunner
import patched

# What RUN lines name as %patched.
WRITTEN = "%t.patched"


class CasesTest(lit.formats.ShTest):
    def execute(self, test, litConfig):
        with open(test.getSourcePath(), encoding="utf-8") as source:
            text = source.read()
        if "%patched" in text:
            folder, base = lit.TestRunner.getTempPaths(test)
            try:
                cases = patched.written(text)
            except ValueError as error:
                return lit.Test.FAIL, f"{test.getSourcePath()}:{error}"
            os.makedirs(folder, exist_ok=True)
            with open(WRITTEN.replace("%t", base + ".tmp"), "w", encoding="utf-8") as written:
                written.write(cases)
        return super().execute(test, litConfig)
