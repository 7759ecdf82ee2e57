// DER encoding of the ASN.1 types that certificates use. Writing only: Node.js reads certificates.

const length = (size: number): Buffer => {
  if (size < 0x80) return Buffer.from([size])
  const bytes: number[] = []
  for (let rest = size; rest > 0; rest = Math.floor(rest / 256)) bytes.unshift(rest % 256)
  return Buffer.from([0x80 | bytes.length, ...bytes])
}

const tagged = (tag: number, content: Buffer): Buffer => Buffer.concat([Buffer.from([tag]), length(content.length), content])

export const sequence = (...members: readonly Buffer[]): Buffer => tagged(0x30, Buffer.concat(members))
export const set = (...members: readonly Buffer[]): Buffer => tagged(0x31, Buffer.concat(members))
export const octets = (content: Buffer): Buffer => tagged(0x04, content)
export const text = (content: string): Buffer => tagged(0x0c, Buffer.from(content, 'utf8'))
export const nullValue = tagged(0x05, Buffer.alloc(0))
export const boolean = (value: boolean): Buffer => tagged(0x01, Buffer.from([value ? 0xff : 0]))
/** Non-negative: a leading zero byte keeps the first bit from being a sign. */
export const integer = (bytes: Buffer): Buffer => tagged(0x02, (bytes[0] ?? 0) >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
export const bits = (content: Buffer, unused = 0): Buffer => tagged(0x03, Buffer.concat([Buffer.from([unused]), content]))
/** `[0] EXPLICIT` and the like. */
export const explicit = (number: number, content: Buffer): Buffer => tagged(0xa0 | number, content)
/** `[2] IMPLICIT` and the like. */
export const implicit = (number: number, content: Buffer): Buffer => tagged(0x80 | number, content)

/** Encodes a dotted OBJECT IDENTIFIER: base 128, the first two numbers in one. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...others] = dotted.split('.').map(Number)
  const bytes = [first * 40 + second, ...others].flatMap((number) => {
    const digits = [number % 128]
    for (let rest = Math.floor(number / 128); rest > 0; rest = Math.floor(rest / 128)) digits.unshift(0x80 | (rest % 128))
    return digits
  })
  return tagged(0x06, Buffer.from(bytes))
}

/** UTCTime up to 2049, GeneralizedTime afterwards (RFC 5280). */
export function time(ms: number): Buffer {
  const digits = `${new Date(ms).toISOString().replace(/\.\d+|[-:T]/g, '')}`
  return digits < '2050' ? tagged(0x17, Buffer.from(digits.slice(2))) : tagged(0x18, Buffer.from(digits))
}
