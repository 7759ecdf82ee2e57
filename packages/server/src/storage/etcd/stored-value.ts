// A value as it lies in etcd: two bytes or eight before the bytes that were stored.
//
//   format (1, or 2 with an expiry) 1 · index of the commit in its transaction 1 · [expiry 6] · value

const plain = 1
const expiring = 2

export interface StoredValue {
  /** With etcd's revision it gives the entry's own: see numbering.ts. */
  readonly index: number
  readonly expiresAtMs: number | undefined
  /** A copy: the bytes that came over the wire are many values in one. */
  readonly value: Buffer
}

/** What goes before the value. */
export function valuePrefix(index: number, expiresAtMs: number | undefined): Buffer {
  const prefix = Buffer.allocUnsafe(expiresAtMs === undefined ? 2 : 8)
  prefix[0] = expiresAtMs === undefined ? plain : expiring
  prefix[1] = index
  if (expiresAtMs !== undefined) prefix.writeUIntBE(Math.max(0, Math.round(expiresAtMs)), 2, 6)
  return prefix
}

/** Undefined for what was not written by this server. */
export function readStoredValue(bytes: Buffer): StoredValue | undefined {
  const [format, index] = bytes
  if (index === undefined || (format !== plain && format !== expiring)) return undefined
  if (format === plain) return { index, expiresAtMs: undefined, value: Buffer.from(bytes.subarray(2)) }
  if (bytes.length < 8) return undefined
  return { index, expiresAtMs: bytes.readUIntBE(2, 6), value: Buffer.from(bytes.subarray(8)) }
}
