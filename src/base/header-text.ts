// Texts in headers: headers are bytes, and what reads and writes them has one character for each.

const beyondAscii = /[^\x00-\x7f]/
const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/** The text whose bytes came in a header. */
export const decodeHeader = (value: string): string =>
  beyondAscii.test(value) ? decoder.decode(Uint8Array.from(value, (character) => character.charCodeAt(0))) : value

/** The bytes of the text, for a header. */
export function encodeHeader(text: string): string {
  if (!beyondAscii.test(text)) return text
  let bytes = ''
  for (const byte of encoder.encode(text)) bytes += String.fromCharCode(byte)
  return bytes
}
