"""What is compiled for a GPU and run there: models, plans and the peers' shapes."""

GPT2, GPT2_XL, LLAMA_1B, LLAMA_8B = (f"examples/configs/{name}.json"
                                     for name in ("gpt2-medium", "gpt2-xl", "llama-3.2-1b", "llama-3.1-8b"))

#: Models whose runs equal those of a CPU: name -> (config, options of par-compile, what may differ: gradients, losses).
MODELS = {
    "gpt2": ("test/Run/Inputs/gpt2-tiny.json", "--seq 32 --batch 4", (1e-5, 1e-5)),
    "gpt2-odd": ("test/Run/Inputs/gpt2-odd.json", "--seq 32 --batch 4", (1e-5, 1e-5)),
    "llama": ("test/Run/Inputs/llama-tiny.json", "--seq 32 --batch 4", (1e-5, 1e-5)),
    "llama-bf16": ("test/Run/Inputs/llama-tiny.json", "--seq 32 --batch 4 --dtype bf16", (2e-2, 5e-3)),
}

#: All ranks on one GPU: name -> (model, plan).
EQUAL = {
    "gpt2-one": ("gpt2", ""),
    "gpt2-dp2-tp2": ("gpt2", "--mesh dp=2,tp=2"),
    "gpt2-dropout-tp2": ("gpt2-odd", "--mesh tp=2 --micro-batches 2"),
    "gpt2-dropout-zero3": ("gpt2-odd", "--mesh dp=4 --zero 3"),
    "gpt2-offload": ("gpt2", "--mesh dp=2 --zero 1 --offload optimizer"),
    "llama-one": ("llama", ""),
    "llama-zero3": ("llama", "--mesh dp=2,tp=2 --zero 3 --overlap on --micro-batches 2"),
    "llama-recompute": ("llama", "--mesh tp=2 --sequence-parallel --recompute selective"),
    "llama-1f1b": ("llama", "--mesh pp=2 --micro-batches 4 --schedule 1f1b"),
    "llama-zb": ("llama", "--mesh pp=2,dp=2 --micro-batches 2 --schedule zb-h1 --zero 1"),
    "llama-bf16-one": ("llama-bf16", ""),
    "llama-bf16-zero3": ("llama-bf16", "--mesh dp=2,tp=2 --zero 3"),
    "llama-bf16-cudnn": ("llama-bf16", "--mesh dp=2,tp=2 --cudnn-plans"),
}

#: bf16, f32 masters; what an H100 has room for is held.
STEP_FLAGS = "--dtype bf16 --recompute auto --memory-limit 76GiB"
#: Whole steps at the speed of the hardware: name -> (config, what is changed in it, seq, batch).
NO_DROPOUT = {"attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0}
STEPS = {
    "G1": (GPT2_XL, NO_DROPOUT, 1024, 16),
    "G2": (LLAMA_1B, {}, 8192, 2),
    "G3": (LLAMA_8B, {"num_hidden_layers": 8}, 8192, 1),
}

#: Plans of one rank whose steps are predicted before they run: name -> (config, what is changed in it, flags).
PREDICTED = {
    "gpt2-bf16": (GPT2, NO_DROPOUT, "--seq 1024 --batch 16 --dtype bf16"),
    "gpt2-recompute": (GPT2, NO_DROPOUT, "--seq 1024 --batch 16 --dtype bf16 --recompute full"),
    "gpt2-micro-batches": (GPT2, NO_DROPOUT, "--seq 1024 --batch 16 --dtype bf16 --micro-batches 4"),
    "gpt2-f32": (GPT2, NO_DROPOUT, "--seq 1024 --batch 4"),
    "llama-1b-long": (LLAMA_1B, {"num_hidden_layers": 4}, "--seq 8192 --batch 1 --dtype bf16"),
    "llama-1b-selective": (LLAMA_1B, {"num_hidden_layers": 4},
                           "--seq 2048 --batch 8 --dtype bf16 --recompute selective"),
    "llama-8b": (LLAMA_8B, {"num_hidden_layers": 2, "vocab_size": 32000}, "--seq 4096 --batch 2 --dtype bf16"),
    "llama-8b-short": (LLAMA_8B, {"num_hidden_layers": 2, "vocab_size": 32000}, "--seq 512 --batch 8 --dtype bf16"),
}
#: Whose kernels run one by one beside what was emulated, under plans of examples.py: real lengths of rows, few of them.
OUTPUT_CONFIGS = [GPT2_XL, LLAMA_1B, LLAMA_8B]
OUTPUT_PLANS = ["bf16", "f32"]
OUTPUT_ROWS = {"sequences": 2, "tokens": 3, "layers": 2}
OUTPUT_TABLE_ROWS = 4

#: Tokens of attention that is compared with what was emulated: some tiles, and a part of one.
ATTENTION_ROWS = 200

#: Cluster files that say what such a GPU does, by a word of the GPU's name.
CLUSTERS = {"H100": "dgx-h100", "H200": "hgx-h200", "A100": "dgx-a100-80", "B200": "dgx-b200"}

#: Steps and flags of runs that are compared.
EQUAL_STEPS = 3
EQUAL_FLAGS = "--lr 1e-3 --weight-decay 0.1 --clip-grad-norm 0.5 --seed 1"
