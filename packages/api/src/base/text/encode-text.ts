// Short texts as bytes in memory that neighbours share: very many small pieces of memory cost the collector more than the texts themselves.

const encoder = new TextEncoder()

/** So much is shared: a piece that is kept does not keep much else. Who keeps one for long makes a copy. */
const slabBytes = 32 * 1024
/** What is longer has memory of its own. */
const longText = slabBytes / 8

let slab = new Uint8Array(slabBytes)
let used = 0

/** The text in UTF-8, in bytes that nobody else writes to. */
export function encodeText(text: string): Uint8Array {
  if (text.length > longText) return encoder.encode(text)
  // A unit of a text takes three bytes at most.
  if (used + 3 * text.length > slabBytes) {
    slab = new Uint8Array(slabBytes)
    used = 0
  }
  const { written } = encoder.encodeInto(text, slab.subarray(used))
  used += written
  return slab.subarray(used - written, used)
}
