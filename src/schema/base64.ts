// Base64 between text and bytes, by table: the pure rooms have no buffers of the platform to do it for them.

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'
const letters = Uint8Array.from(alphabet, (letter) => letter.charCodeAt(0))
const values = new Uint8Array(128)
letters.forEach((letter, value) => {
  values[letter] = value
})
const padding = 0x3d

/** How many bytes a padded base64 text stands for. */
export function base64ByteLength(text: string): number {
  if (text === '') return 0
  const pads = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0
  return (text.length / 4) * 3 - pads
}

/** Writes the bytes of a well-formed base64 text to `target`, from `start` on. */
export function decodeBase64(text: string, target: Uint8Array, start = 0): void {
  const end = start + base64ByteLength(text)
  const value = (i: number): number => values[text.charCodeAt(i) & 0x7f] as number
  let at = start
  for (let i = 0; at < end; i += 4) {
    const group = (value(i) << 18) | (value(i + 1) << 12) | (value(i + 2) << 6) | value(i + 3)
    target[at++] = group >> 16
    if (at < end) target[at++] = group >> 8
    if (at < end) target[at++] = group
  }
}

const decoder = new TextDecoder()

export function encodeBase64(bytes: Uint8Array): string {
  const out = new Uint8Array(Math.ceil(bytes.length / 3) * 4)
  let at = 0
  for (let i = 0; i < bytes.length; i += 3) {
    const group = ((bytes[i] as number) << 16) | ((bytes[i + 1] ?? 0) << 8) | (bytes[i + 2] ?? 0)
    out[at++] = letters[group >> 18] as number
    out[at++] = letters[(group >> 12) & 63] as number
    out[at++] = i + 1 < bytes.length ? (letters[(group >> 6) & 63] as number) : padding
    out[at++] = i + 2 < bytes.length ? (letters[group & 63] as number) : padding
  }
  return decoder.decode(out)
}
