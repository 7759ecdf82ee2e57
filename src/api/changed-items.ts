// Changing the items of a list without a copy where none of them changed.

/** The same list where every item stayed the same object. */
export function changedItems<T>(items: readonly T[], change: (item: T) => T): readonly T[] {
  const changed = items.map(change)
  return changed.every((item, i) => item === items[i]) ? items : changed
}
