/* Stands for libcuda.so.1 where only questions are asked: one device, unless CUDA_VISIBLE_DEVICES hides
   it. FAKE_CUDA_DRIVER: the version of CUDA it is of; FAKE_CUDA_INIT: what cuInit answers. */
#include <stdlib.h>
#include <string.h>

static int number(const char *name, int otherwise)
{
    const char *text = getenv(name);
    return text ? atoi(text) : otherwise;
}

int cuInit(unsigned flags)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible && strcmp(visible, "0"))
        return 100;
    return flags ? 1 : number("FAKE_CUDA_INIT", 0);
}

int cuDeviceGetCount(int *count) { return *count = 1, 0; }
int cuDeviceGet(int *device, int ordinal) { return *device = ordinal, ordinal != 0; }
int cuDriverGetVersion(int *version) { return *version = number("FAKE_CUDA_DRIVER", 13000), 0; }

int cuDeviceGetName(char *name, int room, int device)
{
    strncpy(name, "Fake GPU", (size_t)room);
    return device;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    *value = attribute == 75 ? 9 : attribute == 76 ? 0 : attribute == 38 ? 1 << 20 : -1;
    return device;
}

int cuGetErrorString(int error, const char **text)
{
    *text = error == 100 ? "no CUDA-capable device is detected" : "unknown error";
    return 0;
}
