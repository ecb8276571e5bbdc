/* module_tree_report.h: modules as a tree and as a list of layers: text, JSON, CSV.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_REPORT_MODULE_TREE_REPORT_H
#define ML_REPORT_MODULE_TREE_REPORT_H

#include "module_tree.h"
#include "style.h"

/* @file   the trace's name as the user gave it
 * @return 0 or negative errno */
int ml_module_tree_text(const struct ml_module_tree *tree, const char *file,
                        const struct ml_style *style, struct ml_buf *out);
int ml_module_tree_json(const struct ml_module_tree *tree, const char *file, struct ml_buf *out);

int ml_layers_text(const struct ml_layers *layers, const char *file, const struct ml_style *style,
                   struct ml_buf *out);
int ml_layers_json(const struct ml_layers *layers, const char *file, struct ml_buf *out);
int ml_layers_csv(const struct ml_layers *layers, bool safe, struct ml_buf *out);

#endif
