// UTF-8 in HTTP header values: Node.js reads and writes headers as Latin-1, one character per byte.

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
