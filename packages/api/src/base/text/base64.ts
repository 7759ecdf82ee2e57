// Base64 encoding and decoding without Buffer, which browsers do not have.

const chars = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'
const notDigit = 255

class Alphabet {
  readonly codes: Uint8Array
  readonly digits = new Uint8Array(128).fill(notDigit)

  constructor(lastTwo: string) {
    this.codes = Uint8Array.from(chars + lastTwo, (char) => char.charCodeAt(0))
    this.codes.forEach((code, digit) => {
      this.digits[code] = digit
    })
  }
}

const standard = new Alphabet('+/')
export const urlAlphabet = new Alphabet('-_')

const equalSign = 61
const isLineBreak = (code: number): boolean => code === 10 || code === 13

/** True for padded base64 without line breaks. A regular expression over groups of four backtracks too far on 10 MB. */
export function isBase64(text: string): boolean {
  if (text.length % 4 !== 0) return false
  const end = text.search(/[^A-Za-z0-9+/]/)
  const padding = end === -1 ? 0 : text.length - end
  return padding === 0 || (padding === 1 && text.endsWith('=')) || (padding === 2 && text.endsWith('=='))
}

export function base64ByteLength(text: string): number {
  const pads = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - pads
}

export function encodeBase64(bytes: Uint8Array): string {
  const { codes } = standard
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  let at = 0
  for (let i = 0; i < bytes.length; i += 3) {
    const group = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    out[at++] = codes[group >> 18] as number
    out[at++] = codes[(group >> 12) & 63] as number
    out[at++] = i + 1 < bytes.length ? (codes[(group >> 6) & 63] as number) : equalSign
    out[at++] = i + 2 < bytes.length ? (codes[group & 63] as number) : equalSign
  }
  // Created on each call: jsdom has no TextDecoder when this module is loaded.
  return new TextDecoder().decode(out)
}

/** Skips line breaks. Returns the index of the first invalid character if the text is not base64. */
export function decodeBase64(text: string, { digits } = standard): Uint8Array | number {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let size = 0
  let group = 0
  let digitsInGroup = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    const digit = code < digits.length ? (digits[code] as number) : notDigit
    if (digit === notDigit) {
      if (isLineBreak(code)) continue
      if (code !== equalSign || digitsInGroup < 2) return at
      const badAt = findBadPadding(text, at, digitsInGroup)
      if (badAt !== undefined) return badAt
      bytes[size++] = group >> (digitsInGroup === 2 ? 4 : 10)
      if (digitsInGroup === 3) bytes[size++] = group >> 2
      return bytes.subarray(0, size)
    }
    group = (group << 6) | digit
    if (++digitsInGroup < 4) continue
    bytes[size++] = group >> 16
    bytes[size++] = group >> 8
    bytes[size++] = group
    group = 0
    digitsInGroup = 0
  }
  return digitsInGroup === 0 ? bytes.subarray(0, size) : text.length - digitsInGroup
}

function findBadPadding(text: string, at: number, digitsInGroup: number): number | undefined {
  const skipLineBreaks = (from: number): number => {
    let next = from
    while (next < text.length && isLineBreak(text.charCodeAt(next))) next++
    return next
  }
  let end = skipLineBreaks(at + 1)
  if (digitsInGroup === 2) {
    if (end === text.length) return end
    if (text.charCodeAt(end) !== equalSign) return end - 1
    end = skipLineBreaks(end + 1)
  }
  return end < text.length ? end : undefined
}
