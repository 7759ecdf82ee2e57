// UTF-8 length of a string, without encoding short strings.

const encoder = new TextEncoder()
const maxScannedLength = 4096

export function byteLength(text: string): number {
  if (text.length > maxScannedLength) return encoder.encode(text).length
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    if (unit < 0x80) continue
    // A surrogate pair is two units and four bytes; every other unit from 0x800 on takes three.
    bytes += unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff) ? 1 : 2
  }
  return bytes
}
