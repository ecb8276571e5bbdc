/* uses_workspaces.c: a layer whose libraries need workspaces.
 *
 * SPDX-License-Identifier: Apache-2.0
 */
#include <dlfcn.h>
#include <stdio.h>

#include "extension_api.h"
#include "torch_cuda_double.h"

int main(void)
{
    const struct ml_extension_api *api =
        (const struct ml_extension_api *)dlsym(RTLD_DEFAULT, ML_EXTENSION_API_NAME);

    if (api) {
        api->torch_begin();
        api->enter_module(api->name("net", 3), api->name("Net", 3));
    }
    printf("%d\n", use_workspaces());
    if (api)
        api->leave_module();
    return 0;
}
