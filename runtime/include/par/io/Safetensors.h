/// Hugging Face's safetensors: 8 bytes header length (little-endian), a JSON header name → {dtype, shape,
/// data_offsets}, then the tensors' bytes. https://huggingface.co/docs/safetensors
#ifndef PAR_IO_SAFETENSORS_H
#define PAR_IO_SAFETENSORS_H

#include "par/io/Files.h"
#include "par/io/Layout.h"
#include "par/io/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace par::io {

/// Element types that can be read as f32, and the integers that exist in files but cannot.
enum class FileType { f64, f32, f16, bf16, other };

struct SafetensorsEntry {
  std::string name;
  std::string dtype; ///< as the file spells it: "F32"
  FileType type = FileType::other;
  Shape shape;
  int64_t begin = 0, end = 0; ///< bytes from the end of the header
};

/// A mapped file whose header has been checked: lengths, offsets (one tensor after the
/// other, to the end of the file), sizes.
class SafetensorsReader {
public:
  Status open(const std::string &path);
  const std::string &path() const { return name; }
  const std::vector<SafetensorsEntry> &entries() const { return list; }
  const SafetensorsEntry *find(const std::string &tensor) const;
  /// Reads `count` elements from element `first` on, `stride` apart, rounded to f32. The type is not `other`.
  void read(const SafetensorsEntry &entry, int64_t first, int64_t stride, int64_t count, float *out) const;
  /// The bytes of a tensor as they lie in the file.
  const unsigned char *bytes(const SafetensorsEntry &entry) const { return file.data() + base + entry.begin; }

private:
  Status openAs(const std::string &path);
  Status checkOffsets() const;

  std::string name;
  MappedFile file;
  int64_t base = 0;
  std::vector<SafetensorsEntry> list;
};

struct NamedShape {
  std::string name;
  Shape shape;
};

/// Length of the file that a SafetensorsWriter makes of these tensors.
int64_t safetensorsBytes(const std::vector<NamedShape> &tensors);

/// Bytes of an element in files: of f32, bf16 or f16.
inline int64_t bytesOf(FileType type) { return type == FileType::f32 ? 4 : 2; }

/// Writes tensors in the order they were declared, all as f32, bf16 or f16. The file appears under its name
/// with `commit`.
class SafetensorsWriter {
public:
  Status create(const std::string &path, const std::vector<NamedShape> &tensors,
                FileType type = FileType::f32);
  /// Rounds to the file's type. Fails on a finite value that it cannot hold.
  Status append(const float *values, int64_t count);
  /// Fails unless exactly the declared number of elements was appended.
  Status commit();
  /// The same; the data are on the disk when it returns.
  Status commitDurably();
  void discard() { file.discard(); }

private:
  Status checkComplete() const;

  Status appendRounded(const float *values, int64_t count);

  OutputFile file;
  FileType type = FileType::f32;
  int64_t missing = 0;
};

} // namespace par::io
#endif
