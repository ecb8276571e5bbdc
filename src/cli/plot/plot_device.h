/* plot_device.h: which device a timeline shows when several have memory and none was asked for.
 * Host and GPU are never added up: no device has a memory of the size of their sum.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#ifndef ML_CLI_PLOT_DEVICE_H
#define ML_CLI_PLOT_DEVICE_H

#include "plot_request.h"

/* Chooses the device with the highest peak among those that all recordings use. Reads each
 * recording to its end.
 * @picture  gets the device, and a line that names the others; stays as it is if there are no
 *           others, or the recordings have no device in common. Both texts are the canvas's
 * @return   0 or negative errno */
int ml_plot_choose_device(const struct ml_plot_request *request, struct ml_canvas *canvas,
                          struct ml_plot_opts *picture, struct ml_error *err);

#endif
