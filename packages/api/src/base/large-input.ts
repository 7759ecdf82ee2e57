// Thresholds of large inputs: a step on a large input would block the event loop for too long, so it runs in a worker thread.

/** Inputs up to this size are never large, so they are not scanned. */
const smallBytes = 8 << 10
/** JSON with one long value: decoding, validating and encoding takes about 10 ms. */
const largeBytes = 512 << 10
/** Members and items: decoding, tracking, validating and encoding 7,000 of them takes 20 to 50 ms. */
const largeMembers = 7000
/** Lower than for JSON, because YAML is scanned character by character. */
export const largeYamlBytes = 128 << 10
/** Lower than for JSON, because fields cannot be counted without decoding; a field takes at least two bytes. */
export const largeProtobufBytes = 16 << 10

/** Comma, line end, `[` and `{`. Counted inside strings, too: a wrong guess costs a few milliseconds. */
const separators = [0x2c, 0x0a, 0x5b, 0x7b]

export function isLarge(bytes: Uint8Array, maxBytes = largeBytes): boolean {
  if (bytes.length <= smallBytes) return false
  return bytes.length > maxBytes || hasManyMembers(bytes)
}

function hasManyMembers(bytes: Uint8Array): boolean {
  let found = 0
  for (const separator of separators) {
    for (let at = bytes.indexOf(separator); at >= 0; at = bytes.indexOf(separator, at + 1)) if (++found > largeMembers) return true
  }
  return false
}
