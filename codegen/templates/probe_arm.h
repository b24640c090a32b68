/* What this code needs of the processor: bits of entries of the auxiliary vector. */
static const struct {
    int code;  /* says that it is missing */
    unsigned long entry;
    int bit;
} needed_features[] = {
    /* rows */
};

/* The error code of a feature that is missing, or 0. */
static int missing_feature(void)
{
    for (size_t i = 0; i < sizeof needed_features / sizeof *needed_features; ++i) {
#if defined(__linux__)
        if (getauxval(needed_features[i].entry) >> needed_features[i].bit & 1)
            continue;
#endif
        return needed_features[i].code;
    }
    return 0;
}
