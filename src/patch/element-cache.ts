// Path elements that were made lately. The same names come up in object after object, and an element that is already known as the
// name of a member costs a third of one that is put together anew.

const maxEntries = 1024
const maxLength = 64

/** Makes an element of a text at most once in a while. */
export function cached(make: (text: string) => string): (text: string) => string {
  const known = new Map<string, string>()
  return (text) => {
    const found = known.get(text)
    if (found !== undefined) return found
    const made = make(text)
    if (text.length > maxLength) return made
    // Clients choose the texts: what has grown too great is forgotten and begins anew.
    if (known.size >= maxEntries) known.clear()
    known.set(text, made)
    return made
  }
}
