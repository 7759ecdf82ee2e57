// Texts in headers: headers are bytes, and what reads and writes them has one character for each.

const beyondAscii = /[^\x00-\x7f]/
/** Made for the few that need them: where pages are only imitated, as by jsdom, there may be none. */
const makeEncoder = (): { encode(text: string): Uint8Array } => new TextEncoder()
const makeDecoder = (): { decode(bytes: Uint8Array): string } => new TextDecoder('utf-8', { ignoreBOM: true })

/** The text whose bytes came in a header. */
export const decodeHeader = (value: string): string =>
  beyondAscii.test(value) ? makeDecoder().decode(Uint8Array.from(value, (character) => character.charCodeAt(0))) : value

/** The bytes of the text, for a header. */
export function encodeHeader(text: string): string {
  if (!beyondAscii.test(text)) return text
  let bytes = ''
  for (const byte of makeEncoder().encode(text)) bytes += String.fromCharCode(byte)
  return bytes
}
