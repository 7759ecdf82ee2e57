// How many bytes a text takes in UTF-8, for limits that count bytes; a short one is not encoded for it.

const encoder = new TextEncoder()
/** The platform encodes half a megabyte in the time in which a loop that is not compiled yet looks at some thousand characters. */
const longText = 4096

export function byteLength(text: string): number {
  if (text.length > longText) return encoder.encode(text).length
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    // A surrogate pair is two units and four bytes; every other unit from 0x800 on takes three.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}
