# Tests as texts: each file's RUN lines are shell commands over the tools of this build.
import os

import lit.formats

config.name = "par"
config.test_format = lit.formats.ShTest(False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Unit", "Inputs", "CMakeLists.txt"]
config.test_source_root = os.path.join(config.par_source_dir, "test")
config.test_exec_root = os.path.join(config.par_build_dir, "test")

# par's tools, then FileCheck, not and count.
config.environment["PATH"] = os.pathsep.join(
    [config.par_tools_dir, config.llvm_tools_dir, config.environment.get("PATH", "")]
)
# --param device=unmapped: packages run on that device for tests (docs/Running.md).
config.environment["PAR_TEST_DEVICE"] = lit_config.params.get("device", "")
# What a program reads before it is written is NaN, and so what is computed of it: memory of a new process often holds
# the zeros, or the last step's numbers, that hide it.
config.environment["PAR_POISON"] = "1"
if config.par_has_cbc == "TRUE":
    config.available_features.add("cbc")
config.substitutions.append(("%par_source_dir", config.par_source_dir))
config.substitutions.append(("%par_build_dir", config.par_build_dir))
config.substitutions.append(("%golden", os.path.join(config.test_source_root, "Golden")))
config.substitutions.append(("%run", os.path.join(config.test_source_root, "Run")))
config.substitutions.append(("%python", config.par_python))
