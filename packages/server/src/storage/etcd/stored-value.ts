// Encoding of a value in etcd, with the bytes of each field:
//   format (1, or 2 with an expiry) 1 · index of the commit in its transaction 1 · [expiry 6] · value

const formatWithoutExpiry = 1
const formatWithExpiry = 2

interface StoredValue {
  readonly index: number
  readonly expiresAtMs: number | undefined
  /** A copy, because the received buffer holds many values. */
  readonly value: Buffer
}

export function valuePrefix(index: number, expiresAtMs: number | undefined): Buffer {
  const prefix = Buffer.allocUnsafe(expiresAtMs === undefined ? 2 : 8)
  prefix[0] = expiresAtMs === undefined ? formatWithoutExpiry : formatWithExpiry
  prefix[1] = index
  if (expiresAtMs !== undefined) prefix.writeUIntBE(Math.max(0, Math.round(expiresAtMs)), 2, 6)
  return prefix
}

/** Undefined if the value was not written by this server. */
export function readStoredValue(bytes: Buffer): StoredValue | undefined {
  const [format, index] = bytes
  if (index === undefined || (format !== formatWithoutExpiry && format !== formatWithExpiry)) return undefined
  if (format === formatWithoutExpiry) return { index, expiresAtMs: undefined, value: Buffer.from(bytes.subarray(2)) }
  if (bytes.length < 8) return undefined
  return { index, expiresAtMs: bytes.readUIntBE(2, 6), value: Buffer.from(bytes.subarray(8)) }
}
