// Decimal integers as they stand in queries and labels, read as the reference reads them: a sign is fine, a space or a fraction is not.

const maxInt64 = 2n ** 63n - 1n
const maxUint64 = 2n ** 64n - 1n

/** An integer of 64 bits with a sign; undefined when the text is none, or too large. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?0*[0-9]{1,19}$/.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return value > maxInt64 || value < -maxInt64 - 1n ? undefined : value
}

/** An integer of 64 bits without a sign. */
export function parseUint64(text: string): bigint | undefined {
  if (!/^0*[0-9]{1,20}$/.test(text)) return undefined
  const value = BigInt(text)
  return value > maxUint64 ? undefined : value
}
