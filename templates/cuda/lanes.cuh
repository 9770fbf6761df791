/* Registers of lanes: the cells of a storage that a lane has. All are looked at, so that their
 * numbers are constants and the compiler can keep them in registers. */
template <int count, class T> TW_DEVICE void tw_without_value(T (&cells)[count])
{
#pragma unroll
    for (int k = 0; k < count; ++k) cells[k] = tw_junk<T>();
}
template <int count, class T> TW_DEVICE T tw_cell(const T (&cells)[count], tw_int cell)
{
    T value = cells[0];
#pragma unroll
    for (int k = 1; k < count; ++k) {
        if (k == cell) value = cells[k];
    }
    return value;
}
template <int count, class T> TW_DEVICE void tw_set_cell(T (&cells)[count], tw_int cell, T value)
{
#pragma unroll
    for (int k = 0; k < count; ++k) {
        if (k == cell) cells[k] = value;
    }
}
