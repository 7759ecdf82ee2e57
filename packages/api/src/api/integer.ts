// Parsers of 64-bit decimal integers in query parameters and label values. Leading zeros are allowed, spaces and fractions are not.

const maxInt64 = 2n ** 63n - 1n
const maxUint64 = 2n ** 64n - 1n

/** With an optional sign. Returns undefined for other texts and beyond 64 bits. */
export function parseInt64(text: string): bigint | undefined {
  if (!/^[+-]?0*[0-9]{1,19}$/.test(text)) return undefined
  const value = BigInt(text.startsWith('+') ? text.slice(1) : text)
  return value > maxInt64 || value < -maxInt64 - 1n ? undefined : value
}

/** Without a sign. Returns undefined for other texts and beyond 64 bits. */
export function parseUint64(text: string): bigint | undefined {
  if (!/^0*[0-9]{1,20}$/.test(text)) return undefined
  const value = BigInt(text)
  return value > maxUint64 ? undefined : value
}
