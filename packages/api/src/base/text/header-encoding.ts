// Text in HTTP headers: UTF-8 in values, which Node.js reads and writes as Latin-1, one character per byte; percent-encoded keys.

const beyondAscii = /[^\x00-\x7f]/
const makeEncoder = (): { encode(text: string): Uint8Array } => new TextEncoder()
const makeDecoder = (): { decode(bytes: Uint8Array): string } => new TextDecoder('utf-8', { ignoreBOM: true })

export const decodeHeader = (value: string): string =>
  beyondAscii.test(value) ? makeDecoder().decode(Uint8Array.from(value, (character) => character.charCodeAt(0))) : value

export function encodeHeader(text: string): string {
  if (!beyondAscii.test(text)) return text
  let bytes = ''
  for (const byte of makeEncoder().encode(text)) bytes += String.fromCharCode(byte)
  return bytes
}

/** A key at the end of a header name, such as `Impersonate-Extra-`: percent-encoded; an invalid escape is kept as it is. */
export function unescapeKey(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    return key
  }
}
