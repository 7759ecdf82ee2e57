// UTF-8 encoding of short texts into shared slabs: many small ArrayBuffers cost the garbage collector more than the texts.

const encoder = new TextEncoder()

/** Size of a slab. A result that is retained for long must be copied, or it retains the whole slab. */
const slabBytes = 32 * 1024
const maxSlabTextLength = slabBytes / 8

let slab = new Uint8Array(slabBytes)
let used = 0

/** Returns bytes that no later call overwrites. */
export function encodeText(text: string): Uint8Array {
  if (text.length > maxSlabTextLength) return encoder.encode(text)
  if (used + 3 * text.length > slabBytes) {
    slab = new Uint8Array(slabBytes)
    used = 0
  }
  const { written } = encoder.encodeInto(text, slab.subarray(used))
  used += written
  return slab.subarray(used - written, used)
}
