// Weights as people have them: an index that decides, names that wrappers changed, and other programs' files.
#include "par/io/Weights.h"
#include "SafetensorsFiles.h"
#include "TinyPackage.h"
#include "par/io/OtherWeights.h"

#include <gtest/gtest.h>

#include <cctype>
#include <random>

using namespace par::io;
using namespace par::test;

namespace {

void writeIndex(const TemporaryFolder &folder, const std::string &map) {
  writeText(folder / "model.safetensors.index.json", R"({"metadata":{},"weight_map":{)" + map + "}}");
}

std::string opening(const std::string &path) { return Weights().open(path).message(); }

/// The message of reading these tensors, or their first values as text.
std::string reading(const std::string &path, const std::vector<NamedShape> &wanted) {
  Weights weights;
  if (Status status = weights.open(path); !status.ok())
    return status.message();
  if (Status status = weights.match(wanted); !status.ok())
    return status.message();
  std::string values;
  for (const NamedShape &tensor : wanted) {
    float value;
    weights.read(tensor.name, 0, 1, 1, &value);
    values += std::to_string(int(value)) + " ";
  }
  return values;
}

void expectPart(const std::string &text, const std::string &part) {
  EXPECT_NE(text.find(part), std::string::npos) << text << "\nexpected: " << part;
}

} // namespace

/// Shards that are reused hold more than the index asks for: copies, and tensors of other models.
TEST(WeightIndex, DecidesBetweenCopies) {
  TemporaryFolder folder;
  writeTensors(folder / "1.safetensors", {{{"model.a", {1}}, {1}}, {{"model.other", {1}}, {9}}});
  writeTensors(folder / "2.safetensors", {{{"model.a", {1}}, {2}}, {{"model.b", {1}}, {3}}});
  writeIndex(folder, R"("model.a":"2.safetensors","model.b":"2.safetensors")");
  EXPECT_EQ(reading(folder.root(), {{"model.a", {1}}, {"model.b", {1}}}), "2 3 ");
  writeIndex(folder, R"("model.a":"1.safetensors","model.b":"2.safetensors")");
  EXPECT_EQ(reading(folder.root(), {{"model.a", {1}}, {"model.b", {1}}}), "1 3 ");
  // Both files are read, and each has a copy of what the other one counts for.
  writeTensors(folder / "1.safetensors", {{{"model.a", {1}}, {1}}, {{"model.b", {1}}, {7}}});
  EXPECT_EQ(reading(folder.root(), {{"model.a", {1}}, {"model.b", {1}}}), "1 3 ");
  writeIndex(folder, R"("model.a":"2.safetensors","model.b":"1.safetensors")");
  EXPECT_EQ(reading(folder.root(), {{"model.a", {1}}, {"model.b", {1}}}), "2 7 ");
  // A copy whose shape is another, or which is damaged, is not looked at.
  writeTensors(folder / "1.safetensors", {{{"model.a", {2, 2}}, {1, 1, 1, 1}}});
  writeIndex(folder, R"("model.a":"2.safetensors","model.b":"2.safetensors")");
  EXPECT_EQ(reading(folder.root(), {{"model.a", {1}}, {"model.b", {1}}}), "2 3 ");
  writeText(folder / "1.safetensors", "damaged");
  EXPECT_EQ(reading(folder.root(), {{"model.a", {1}}, {"model.b", {1}}}), "2 3 ");
}

/// Whatever model.safetensors holds: a stale copy, a shard, or nothing that is readable.
TEST(WeightIndex, DecidesBesideModelSafetensors) {
  TemporaryFolder folder;
  const std::vector<NamedShape> wanted = {{"model.a", {1}}, {"model.b", {1}}};
  writeTensors(folder / "1.safetensors", {{{"model.a", {1}}, {1}}});
  writeTensors(folder / "2.safetensors", {{{"model.b", {1}}, {2}}});
  writeTensors(folder / "model.safetensors", {{{"model.a", {1}}, {8}}, {{"model.b", {1}}, {9}}});
  EXPECT_EQ(reading(folder.root(), wanted), "8 9 ");
  writeIndex(folder, R"("model.a":"1.safetensors","model.b":"2.safetensors")");
  EXPECT_EQ(reading(folder.root(), wanted), "1 2 ");
  writeIndex(folder, R"("model.a":"model.safetensors","model.b":"2.safetensors")");
  EXPECT_EQ(reading(folder.root(), wanted), "8 2 ");
  writeText(folder / "model.safetensors", "damaged");
  writeIndex(folder, R"("model.a":"1.safetensors","model.b":"2.safetensors")");
  EXPECT_EQ(reading(folder.root(), wanted), "1 2 ");
  // An index that is left from another model is refused, with the way out.
  writeIndex(folder, R"("model.a":"1.safetensors","model.b":"3.safetensors")");
  expectPart(opening(folder.root()),
             "weight_map has \"model.b\" in 3.safetensors, but that file is not there; "
             "fetch it, too, or remove the index if model.safetensors is the whole");
}

/// As in a cache of Hugging Face whose files were removed.
TEST(WeightIndex, LinksThatLeadNowhereAreNamed) {
  TemporaryFolder folder;
  std::filesystem::create_symlink("../blobs/abc", folder / "model.safetensors");
  std::string nowhere = "model.safetensors: is a link to ../blobs/abc, which leads nowhere; fetch";
  expectPart(opening(folder.root()), nowhere);
  expectPart(opening(folder / "model.safetensors"), nowhere);
  writeIndex(folder, R"("a":"model.safetensors")");
  expectPart(opening(folder.root()), nowhere);
  std::filesystem::remove(folder / "model.safetensors.index.json");
  std::filesystem::create_symlink("model.safetensors.index.json", folder / "model.safetensors.index.json");
  expectPart(opening(folder.root()), "index.json: is a link to model.safetensors.index.json, which leads");
  std::filesystem::create_symlink(folder / "model.safetensors.index.json", folder / "x.safetensors");
  expectPart(opening(folder / "x.safetensors"), "x.safetensors: is a link to ");
}

/// What the index says wrongly is one line, and names what is wrong.
TEST(WeightIndex, WhatIsWrongIsNamed) {
  TemporaryFolder folder;
  writeTensors(folder / "1.safetensors", {{{"a", {1}}, {1}}, {{"model.b", {1}}, {2}}});
  writeTensors(folder / "2.safetensors", {{{"b", {1}}, {3}}});
  auto expect = [&](const std::string &map, const std::string &part) {
    writeIndex(folder, map);
    expectPart(opening(folder.root()), part);
  };
  expect(R"("b":"1.safetensors")", "weight_map has \"b\" in 1.safetensors, but that file does not");
  expect(R"("a":"3.safetensors")", "index.json: weight_map has \"a\" in 3.safetensors, but that file is not "
                                   "there; fetch it, too");
  expect("", "index.json: has an empty weight_map, which names no tensor; fetch");
  for (const char *elsewhere : {"../1.safetensors", "/etc/passwd", "", ".", "..", "sub/1.safetensors"})
    expect("\"a\":\"" + std::string(elsewhere) + "\"", "weight_map of \"a\" names no file of this folder");
  expect(R"("a":1)", "names no file of this folder");
  expect(R"("a":"1.safetensors","a":"2.safetensors")", "has \"a\" twice");
  expect(R"("b":"2.safetensors","model.b":"1.safetensors")", "is there twice, also as \"b\"");
  writeText(folder / "model.safetensors.index.json", R"({"weight_map":[]})");
  expectPart(opening(folder.root()), "is no JSON object with a weight_map; fetch");
  // A tensor that a file has and the index does not name is not there.
  writeIndex(folder, R"("a":"1.safetensors")");
  expectPart(reading(folder.root(), {{"a", {1}}, {"b", {1}}}), "\"b\" of the model is missing");
}

/// What torch.compile and the wrappers of parallel training add to names is passed over, wherever it stands.
TEST(WeightNames, OfWrappersAreReadAsPlainOnes) {
  TemporaryFolder folder;
  for (const char *name :
       {"_orig_mod.model.layers.0.mlp.weight", "module.model.layers.0.mlp.weight",
        "module._orig_mod.model.layers.0.mlp.weight", "_orig_mod.module.layers.0.mlp.weight",
        "module.module.model.layers.0.mlp.weight", "model.layers.0._orig_mod.mlp.weight",
        "model.layers._orig_mod.0.mlp.module.weight", "model._orig_mod.layers.0.mlp.weight",
        "_fsdp_wrapped_module.model.layers.0._checkpoint_wrapped_module.mlp.weight"}) {
    writeTensors(folder / "x", {{{name, {1}}, {5}}});
    EXPECT_EQ(reading(folder / "x", {{"model.layers.0.mlp.weight", {1}}}), "5 ") << name;
  }
  // A name that merely has the letters is another one.
  for (const char *name : {"my_orig_mod.a", "modules.a", "a._orig_mod", "model.module"}) {
    writeTensors(folder / "x", {{{name, {1}}, {5}}});
    expectPart(reading(folder / "x", {{"a", {1}}}), "\"a\" of the model is missing");
  }
}

/// Two names of one tensor are refused, with the remedy, unless an index says which counts.
TEST(WeightNames, TwoOfOneTensorAreAmbiguous) {
  TemporaryFolder folder;
  writeTensors(folder / "x", {{{"model.a", {1}}, {1}}, {{"_orig_mod.model.a", {1}}, {2}}});
  expectPart(opening(folder / "x"), "is there twice");
  expectPart(opening(folder / "x"), "leave one of them out");
  writeTensors(folder / "x.safetensors", {{{"model.a", {1}}, {1}}, {{"_orig_mod.model.a", {1}}, {2}}});
  writeIndex(folder, R"("_orig_mod.model.a":"x.safetensors")");
  EXPECT_EQ(reading(folder.root(), {{"model.a", {1}}}), "2 ");
}

/// The nearest name that the file has, first of those that are no other tensor of the model.
TEST(WeightNames, AMissingNameIsAnsweredWithTheNearest) {
  TemporaryFolder folder;
  const std::vector<NamedShape> wanted = {{"model.embed_tokens.weight", {1}},
                                          {"model.layers.0.up_proj.weight", {1}},
                                          {"model.layers.1.up_proj.weight", {1}}};
  writeTensors(folder / "x", {{{"net.embed_tokens.weight", {1}}, {1}},
                              {{"net.layers.0.up_proj.weight", {1}}, {1}},
                              {{"net.layers.1.up_proj.weight", {1}}, {1}}});
  expectPart(
      reading(folder / "x", wanted),
      "tensor \"model.embed_tokens.weight\" of the model is missing; the nearest name that is there is "
      "\"net.embed_tokens.weight\", and 0 of the model's 3 tensors are");
  writeTensors(folder / "x", {{{"model.embed_tokens.weight", {1}}, {1}},
                              {{"model.layers.0.up_proj.weight", {1}}, {1}},
                              {{"model.layers.1.upproj.weight", {1}}, {1}},
                              {{"model.rotary_emb.inv_freq", {1}}, {1}}});
  expectPart(reading(folder / "x", wanted),
             "is there is \"model.layers.1.upproj.weight\", and 2 of the model's 3 tensors are");
  writeTensors(folder / "x",
               {{{"model.embed_tokens.weight", {1}}, {1}}, {{"model.layers.1.up_proj.weight", {1}}, {1}}});
  expectPart(reading(folder / "x", wanted), "is there is \"model.layers.1.up_proj.weight\", and 2 of");
  writeTensors(folder / "x", {});
  expectPart(reading(folder / "x", wanted), "no tensor is there, and 0 of the model's 3 tensors are");
}

/// A prefix has more letters than many another tensor's name has others.
TEST(WeightNames, APrefixIsSeenInTheNearestName) {
  TemporaryFolder folder;
  const std::vector<NamedShape> wanted = {{"model.embed_tokens.weight", {1}},
                                          {"model.layers.0.mlp.up_proj.weight", {1}},
                                          {"lm_head.weight", {1}}};
  for (std::string prefix : {"base_model.model.", "base_model.model.model.", "student.network.inner."}) {
    std::vector<std::pair<NamedShape, std::vector<float>>> tensors = {{{"model.embed.weight", {1}}, {1}}};
    for (const NamedShape &tensor : wanted)
      tensors.push_back({{prefix + tensor.name, {1}}, {1}});
    writeTensors(folder / "x", tensors);
    expectPart(reading(folder / "x", wanted),
               "is there is \"" + prefix + "model.embed_tokens.weight\", and 0");
  }
  writeTensors(folder / "x", {{{"model.embed_tokens.weight", {1}}, {1}},
                              {{"h.1.mlp.up_proj.weight", {1}}, {1}},
                              {{"transformer.h.0.mlp.up_proj.weight", {1}}, {1}},
                              {{"model.layers.0.mlp.gate_proj.weight", {1}}, {1}}});
  expectPart(reading(folder / "x", wanted), "is there is \"transformer.h.0.mlp.up_proj.weight\", and 1");
}

/// Weights that are no floats, or no whole model, are named by their tensors.
TEST(WeightNames, OtherKindsOfTensorsAreNamed) {
  TemporaryFolder folder;
  for (auto [name, part] : {std::pair("model.layers.0.q_proj.qweight", "quantised weights are not read"),
                            {"model.layers.0.q_proj.scales", "quantised weights are not read"},
                            {"model.layers.0.q_proj.weight_scale", "dequantize()"},
                            {"base_model.model.model.layers.0.q_proj.lora_A.weight", "merge_and_unload()"},
                            {"model.layers.0.q_proj.lora_a", "merge_and_unload()"},
                            {"base_model.model.q_proj.lora_magnitude_vector", "merge_and_unload()"},
                            {"base_model.model.layers.0.mlp.ia3_l", "merge_and_unload()"},
                            {"model.layers.0.q_proj.hada_w1_a", "merge_and_unload()"},
                            {"lora_te_encoder_layers_0_fc1.lora_down.weight", "belongs to an adapter"},
                            {"tok_embeddings.weight", "Meta's and Mistral's own files"}}) {
    writeTensors(folder / "x", {{{name, {1}}, {1}}});
    expectPart(reading(folder / "x", {{"a", {1}}}), part);
  }
  for (const char *name : {"adapter_model.safetensors", "adapters.safetensors"}) {
    writeTensors(folder / name, {{{"a", {1}}, {1}}});
    expectPart(reading(folder / name, {{"a", {1}}}), "by its name it belongs to an adapter");
  }
  for (const char *type : {"I8", "U8", "F8_E4M3", "F8_E5M2"}) {
    writeText(folder / "x",
              withLength(R"({"a":{"dtype":")" + std::string(type) + R"(","shape":[1],"data_offsets":[0,1]}})",
                         "x"));
    expectPart(reading(folder / "x", {{"a", {1}}}),
               "has dtype " + std::string(type) + ", expected F32, BF16, F16 or F64; quantised weights");
  }
}

/// Files of other programs, by their first bytes, whatever they are called; each with a way out.
TEST(OtherWeights, FilesAreKnownByTheirBytes) {
  TemporaryFolder folder;
  std::string zipped("PK\3\4\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\0\0", 30);
  std::string numpy = zipped;
  numpy[26] = 9;
  for (auto [content, part, wayOut] :
       {std::tuple<std::string, const char *, const char *>(
            "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 9\n", "a pointer of Git LFS",
            "git lfs pull"),
        {std::string("GGUF\3\0\0\0\0\0\0\0", 12), "GGUF", "gguf_file="},
        {zipped + "archive/data.pkl and more", "torch.save", "save_file"},
        {numpy + "arr_0.npy and more", "NumPy", "save_file"},
        {zipped + "whatever else it is", "archive", "unpack"},
        {std::string("\x80\2\x8a\nl\xfc\x9c\x46\xf9 j\xa8P\x19.", 16), "torch.save", "weights_only=True"},
        {std::string("\x89HDF\r\n\x1a\n\0\0\0\0", 12), "HDF5", "from_tf=True"},
        {std::string("\x81\xa5model\x81\xa6layers", 14), "Flax", "from_flax=True"},
        {std::string("\x08\x07\x12\x07pytorch\x1a\x05", 13), "ONNX", "exported from"},
        {"\x93NUMPY\1", "NumPy", "numpy.load"},
        {std::string("\x1f\x8b\x08\0\0\0\0\0\0", 9), "archive", "unpack"},
        {"<!DOCTYPE html>\n<html>", "web page", "/resolve/"},
        {R"({"metadata": {"total_size": 5}, "weight_map": {}})", "index of weights", "give the folder"},
        {R"({"model_type": "llama", "hidden_size": 8})", "text in JSON", "safetensors file"}}) {
    for (const char *name : {"weights", "model.safetensors", "pytorch_model.bin"}) {
      writeText(folder / name, content);
      std::string message = opening(folder / name);
      expectPart(message, (folder / name) + ": ");
      expectPart(message, part);
      expectPart(message, wayOut);
      EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    }
  }
  // In a folder, too, and where an index leads there.
  writeText(folder / "model.safetensors",
            "version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 9\n");
  expectPart(opening(folder.root()), "model.safetensors: is a pointer of Git LFS");
  std::filesystem::rename(folder / "model.safetensors", folder / "part.safetensors");
  writeIndex(folder, R"("a":"part.safetensors")");
  expectPart(opening(folder.root()), "part.safetensors: is a pointer of Git LFS");
}

/// Damage of a safetensors file is told as damage, and of 2,000 files that begin with any bytes none is read.
TEST(OtherWeights, DamageIsNoOtherKind) {
  for (std::string header : {std::string("{\"a\":"), std::string("{}")})
    for (size_t bytes :
         {0x4b50u, 0x0280u, 0x8b1fu, 0x4d48u}) { // lengths that look like another file's first bytes
      std::string content = withLength(header + std::string(bytes - header.size(), ' '), "xyz");
      EXPECT_EQ(otherWeightsFile("x.safetensors", content), "") << bytes;
    }
  TemporaryFolder folder;
  std::mt19937 random(5);
  const std::vector<std::string> begins = {"",    "GGUF",  "PK\3\4", "\x80\2", "\x81\xa1", "\x08\x01\x12\x02",
                                           "{\"", "<html", "\xde"};
  for (int i = 0; i < 2000; ++i) {
    std::string content = begins[random() % begins.size()];
    for (size_t left = random() % 60; left > 0; --left)
      content += char(random());
    EXPECT_TRUE(otherWeightsFile("x", content).find('\n') == std::string::npos);
    if (i % 20)
      continue;
    writeText(folder / "x", content);
    EXPECT_NE(opening(folder / "x"), "");
  }
}

/// What stands for nothing by its bytes is known by its name.
TEST(OtherWeights, PartsOfCheckpointsAreKnownByTheirNames) {
  TemporaryFolder folder;
  for (const char *name : {"__0_0.distcp", ".metadata"})
    for (const std::string &content :
         {std::string(), std::string(100, '\0'), std::string("PK\3\4 and more")}) {
      writeText(folder / name, content);
      expectPart(opening(folder / name),
                 "is one of the files of a folder of torch.distributed.checkpoint; give");
    }
  for (const char *name : {"latest", "latest_universal", "latest_checkpointed_iteration.txt"}) {
    writeText(folder / name, "global_step100");
    expectPart(opening(folder / name), "is the last one; give its folder");
  }
  writeTensors(folder / "latest", {{{"a", {1}}, {1}}});
  EXPECT_EQ(reading(folder / "latest", {{"a", {1}}}), "1 ");
}

/// Folders of other programs are named, each with the program that makes a model of them.
TEST(OtherWeights, FoldersAreNamed) {
  struct Row {
    std::vector<std::string> files;
    const char *part, *wayOut;
  };
  for (const Row &row : std::vector<Row>{
           {{"adapter_config.json", "adapter_model.safetensors"}, "an adapter (LoRA", "merge_and_unload()"},
           {{"adapter_model.bin"}, "an adapter (LoRA", "merge_and_unload()"},
           {{".metadata", "__0_0.distcp", "__1_0.distcp"}, "torch.distributed.checkpoint", "dcp_to_torch"},
           {{"pytorch_model_fsdp_0/__0_0.distcp", "optimizer_0/__0_0.distcp"}, "FSDP", "merge-weights"},
           {{"latest", "global_step100/mp_rank_00_model_states.pt"}, "DeepSpeed", "zero_to_fp32.py"},
           {{"mp_rank_00_model_states.pt"}, "DeepSpeed", "zero_to_fp32.py"},
           {{"latest", "zero_to_fp32.py", "global_step1/zero_pp_rank_0_mp_rank_00_optim_states.pt"},
            "DeepSpeed",
            "--safe_serialization"},
           {{"latest_checkpointed_iteration.txt", "iter_0000100/mp_rank_00/model_optim_rng.pt"},
            "Megatron",
            "convert"},
           {{"mp_rank_00/model_optim_rng.pt"}, "Megatron", "Megatron Bridge"},
           {{"consolidated.00.pth", "params.json"}, "Meta's or Mistral's own", "script"},
           {{"consolidated.safetensors", "params.json"}, "Meta's or Mistral's own", "script"},
           {{"model-q4.gguf"}, "GGUF", "gguf_file="},
           {{"tf_model.h5", "config.json"}, "HDF5", "from_tf=True"},
           {{"flax_model.msgpack", "config.json"}, "Flax", "from_flax=True"},
           {{"model.onnx"}, "ONNX", "exported from"},
           {{"weights.npz"}, "MLX", "save_file"},
           {{"epoch=1.ckpt"}, "torch.save", "save_file"},
           {{"pytorch_model.bin", "config.json"},
            "has its weights as pytorch_model.bin",
            "save_pretrained(NEW_DIR)"},
           {{"model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors"},
            "parts of a model",
            "index.json"},
           {{"finetuned.safetensors", "config.json"}, "but finetuned.safetensors", "give that file"},
           {{"latest|foo_step\n", "foo_step/bf16_zero_pp_rank_0_mp_rank_00_optim_states.pt"},
            "DeepSpeed, whose",
            "zero_to_fp32.py"},
           {{"latest|global_step5"}, "DeepSpeed", "zero_to_fp32.py"},
           {{"config.json", "checkpoint-5/latest|x", "checkpoint-5/x/mp_rank_00_model_states.pt"},
            "has no weights, but its folder checkpoint-5 holds a checkpoint of DeepSpeed",
            "zero_to_fp32.py"},
           {{"latest_universal|x"}, "a universal checkpoint of DeepSpeed", "zero_to_fp32.py"},
           {{"latest|global_step100", "global_step100/layer_00-model_00-model_states.pt"},
            "DeepSpeed's pipelines",
            "convert_neox_to_hf.py"},
           {{"config.json", "iter_0000010/mp_rank_00/model_optim_rng.pt"}, "Megatron", "Megatron Bridge"},
           {{"iter_0000100/__0_0.distcp", "iter_0000100/common.pt"}, "Megatron", "Megatron Bridge"},
           {{"__0_0.distcp", "common.pt", ".metadata"}, "Megatron", "Megatron Bridge"},
           {{"config.json", "step-10/__0_0.distcp", "step-10/.metadata"},
            "has no weights, but its folder step-10 holds a checkpoint of torch.distributed",
            "dcp_to_torch"},
           {{"weights/__0_0.distcp", "context/io.json"}, "a checkpoint of NeMo", "export_ckpt"},
           {{".metadata", "config.json"}, "but none of its .distcp files", "fetch these"},
           {{"config.json", "adapter/adapter_config.json", "adapter/adapter_model.safetensors"},
            "has no weights, but its folder adapter holds an adapter (LoRA",
            "merge_and_unload()"},
           {{"checkpoint-90/adapter_config.json", "checkpoint-500/adapter_config.json", "training_args.bin"},
            "its folder checkpoint-500 holds an adapter (LoRA",
            "merge_and_unload()"},
           {{"adapters.safetensors", "adapter_config.json"}, "an adapter of MLX", "mlx_lm.fuse"},
           {{"config.json", "checkpoint-100/model.safetensors", "checkpoint-90/model.safetensors", "x.pt"},
            "has no weights, but its folder checkpoint-100 has; give ",
            "/checkpoint-100"},
           {{"M.GGUF"}, "its M.GGUF is a GGUF file", "gguf_file="},
           {{"refs/main", "snapshots/0123/model.safetensors"}, "Hugging Face's cache", "/snapshots/0123"},
           {{"train.bin", "config.json"}, "has neither model.safetensors nor", "save_pretrained"}}) {
    TemporaryFolder folder;
    for (const std::string &file : row.files) { // NAME or NAME|CONTENT
      size_t bar = std::min(file.find('|'), file.size());
      std::string name = file.substr(0, bar);
      std::filesystem::create_directories(std::filesystem::path(folder / name).parent_path());
      writeText(folder / name, bar == file.size() ? "" : file.substr(bar + 1));
    }
    expectPart(opening(folder.root()), folder.root() + ": ");
    expectPart(opening(folder.root()), row.part);
    expectPart(opening(folder.root()), row.wayOut);
  }
}

/// Transformers would load the adapter's model and the adapter, not the weights beside it.
TEST(OtherWeights, AnAdapterBesideAModelIsNotPassedOver) {
  TemporaryFolder folder;
  writeTensors(folder / "model.safetensors", {{{"a", {1}}, {1}}});
  EXPECT_EQ(reading(folder.root(), {{"a", {1}}}), "1 ");
  writeText(folder / "adapter_config.json", "{}");
  expectPart(opening(folder.root()), "holds a model and an adapter");
  EXPECT_EQ(reading(folder / "model.safetensors", {{"a", {1}}}), "1 ");
}
