/// Names of tensors as training programs write them, and what they say about the weights.
#ifndef PAR_IO_WEIGHTNAMES_H
#define PAR_IO_WEIGHTNAMES_H

#include <string>
#include <vector>

namespace par::io {

/// The name without what wrappers add to it (torch.compile's "_orig_mod.", "module." of DataParallel and its
/// kin, at any place), and without the "transformer." or "model." of the model with its head, or the
/// "language_model." of one that reads pictures, too.
std::string plainName(const std::string &name);

/// Whether a tensor is no weight: a mask or frequencies that old files hold. By its plain name.
bool isBuffer(const std::string &plain);

/// Whether a tensor is of the part of a model that reads pictures. By its plain name.
bool isOfPictures(const std::string &plain);

/// Why weights with a tensor of this name are not those of a model whose numbers are floats, and what to do;
/// or nothing.
std::string kindByName(const std::string &name);

/// The remedy for quantised weights, and the message for an adapter's.
extern const char quantised[], adapterTensor[];

/// That of the names which is nearest to the wanted one: whose last parts, between dots, are the same, and of
/// these the one with the fewest other letters; null where there are none.
const std::string *nearestName(const std::string &wanted, const std::vector<std::string> &names);

} // namespace par::io
#endif
