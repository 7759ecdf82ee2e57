// Reading the binary form of certificates and of requests for them: values with a tag and a length, one in the other.

export interface DerValue {
  readonly tag: number
  readonly content: Uint8Array
}

export const derTags = { integer: 0x02, bits: 0x03, objectId: 0x06, sequence: 0x30, set: 0x31 } as const

/** The bytes are not what they claim to be. */
export class DerError extends Error {
  override readonly name = 'DerError'
}

/** The values that lie side by side in some bytes. */
export function readDer(bytes: Uint8Array): readonly DerValue[] {
  const values: DerValue[] = []
  for (let at = 0; at < bytes.length; ) {
    const tag = bytes[at] ?? 0
    if ((tag & 0x1f) === 0x1f) throw new DerError('a tag of several bytes is not expected')
    const { length, start } = readLength(bytes, at + 1)
    if (start + length > bytes.length) throw new DerError('the data is cut short')
    values.push({ tag, content: bytes.subarray(start, start + length) })
    at = start + length
  }
  return values
}

function readLength(bytes: Uint8Array, at: number): { readonly length: number; readonly start: number } {
  const first = bytes[at]
  if (first === undefined) throw new DerError('the data is cut short')
  if (first < 0x80) return { length: first, start: at + 1 }
  const count = first & 0x7f
  if (count === 0 || count > 4) throw new DerError('a length is not well formed')
  let length = 0
  for (let i = 1; i <= count; i++) length = length * 256 + (bytes[at + i] ?? 0)
  return { length, start: at + 1 + count }
}

/** What a sequence holds; anything else is an error. */
export function derMembers(value: DerValue | undefined, tag: number = derTags.sequence): readonly DerValue[] {
  if (value?.tag !== tag) throw new DerError('the parts are not where they belong')
  return readDer(value.content)
}

/** An object identifier in digits and dots. */
export function readObjectId({ content }: DerValue): string {
  const numbers: number[] = []
  let number = 0
  for (const byte of content) {
    number = number * 128 + (byte & 0x7f)
    if (byte < 0x80) {
      numbers.push(number)
      number = 0
    }
  }
  const [head = 0, ...rest] = numbers
  const first = Math.min(Math.floor(head / 40), 2)
  return [first, head - first * 40, ...rest].join('.')
}
