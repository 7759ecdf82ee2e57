// What follows from a value that never changes, worked out once for each and kept as long as the value is.

export function onceFor<Key extends object, Made>(make: (key: Key) => Made): (key: Key) => Made {
  const known = new WeakMap<Key, { readonly made: Made }>()
  return (key) => {
    const found = known.get(key)
    if (found !== undefined) return found.made
    const made = make(key)
    known.set(key, { made })
    return made
  }
}
