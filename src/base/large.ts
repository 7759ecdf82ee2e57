// Which inputs are large. A step on a large input would block the event loop for longer than one request may, so it runs in a worker thread.

/** Below this size nothing is counted. */
const smallBytes = 8 << 10
/** JSON in one long value: to decode, validate and encode this much takes about 10 ms. */
const largeBytes = 512 << 10
/** Members and items: to decode, track, validate and encode 7,000 of them takes 20 to 50 ms. */
const largeParts = 7000
/** YAML is scanned character by character. */
export const largeYamlBytes = 128 << 10
/** The number of parts of a Protobuf message is unknown before it is decoded; one part takes at least two bytes. */
export const largeProtobufBytes = 16 << 10

/** A comma, a line end, and the two brackets that open something. They may stand inside strings: a wrong guess costs a few milliseconds. */
const marks = [0x2c, 0x0a, 0x5b, 0x7b]

/** Decided from the bytes alone, before a step begins. */
export function isLarge(bytes: Uint8Array, maxBytes = largeBytes): boolean {
  if (bytes.length <= smallBytes) return false
  return bytes.length > maxBytes || hasMoreParts(bytes)
}

function hasMoreParts(bytes: Uint8Array): boolean {
  let found = 0
  for (const mark of marks) {
    for (let at = bytes.indexOf(mark); at >= 0; at = bytes.indexOf(mark, at + 1)) if (++found > largeParts) return true
  }
  return false
}
