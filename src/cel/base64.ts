// Base64 with the alphabet of URLs, padded, as values of the format `byte` are written; line breaks do not count.

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const none = 255
/** By the code of a letter. */
const digits = new Uint8Array(128).fill(none)
for (let i = 0; i < alphabet.length; i++) digits[alphabet.charCodeAt(i)] = i

const equalSign = 61
const isBreak = (code: number): boolean => code === 10 || code === 13

/** The bytes, or where the first letter stands that cannot be right. */
export function readBase64(text: string): Uint8Array | number {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let size = 0
  let group = 0
  let inGroup = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const digit = code < digits.length ? (digits[code] as number) : none
    if (digit === none) {
      if (isBreak(code)) continue
      if (code !== equalSign || inGroup < 2) return at
      const bad = badPadding(text, at, inGroup)
      if (bad !== undefined) return bad
      bytes[size++] = group >> (inGroup === 2 ? 4 : 10)
      if (inGroup === 3) bytes[size++] = group >> 2
      return bytes.subarray(0, size)
    }
    group = (group << 6) | digit
    if (++inGroup < 4) continue
    bytes[size++] = group >> 16
    bytes[size++] = group >> 8
    bytes[size++] = group
    group = 0
    inGroup = 0
  }
  return inGroup === 0 ? bytes.subarray(0, size) : text.length - inGroup
}

/** Padding ends the text; undefined where it is right. */
function badPadding(text: string, at: number, inGroup: number): number | undefined {
  const skipBreaks = (from: number): number => {
    let next = from
    while (next < text.length && isBreak(text.charCodeAt(next))) next++
    return next
  }
  let end = skipBreaks(at + 1)
  if (inGroup === 2) {
    if (end === text.length) return end
    if (text.charCodeAt(end) !== equalSign) return end - 1
    end = skipBreaks(end + 1)
  }
  return end < text.length ? end : undefined
}
