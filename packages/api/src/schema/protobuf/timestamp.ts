// Protobuf timestamps (seconds and nanoseconds since 1970) from and to RFC 3339.

interface Timestamp {
  readonly seconds: number
  readonly nanos: number
}

/** Zero value of Go's time.Time: 0001-01-01T00:00:00Z. */
const zeroTimeSeconds = -62_135_596_800
const maxSeconds = 253_402_300_799

/** Returns undefined for Go's zero time. */
export function timestampOf(text: string): Timestamp | undefined {
  const seconds = secondsOf(text)
  const nanos = text.length > 20 ? Number(text.slice(20, -1).padEnd(9, '0').slice(0, 9)) : 0
  return seconds === zeroTimeSeconds && nanos === 0 ? undefined : { seconds, nanos }
}

/** Requires canonical RFC 3339. Three times as fast as Date.parse. */
function secondsOf(text: string): number {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  if (year < 100) return Date.parse(`${text.slice(0, 19)}Z`) / 1000 // Date.UTC adds 1900 to years below 100
  const month = twoDigits(text, 5) - 1
  return Date.UTC(year, month, twoDigits(text, 8), twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)) / 1000
}

const twoDigits = (text: string, at: number): number => (text.charCodeAt(at) - 0x30) * 10 + text.charCodeAt(at + 1) - 0x30

/** True for years 1 to 9999, which RFC 3339 can express. */
export const isInRange = ({ seconds, nanos }: Timestamp): boolean =>
  seconds >= zeroTimeSeconds && seconds <= maxSeconds && nanos >= 0 && nanos <= 999_999_999

/** Returns undefined for Go's zero time. */
export function printTimestamp({ seconds, nanos }: Timestamp, micro: boolean): string | undefined {
  if (seconds === zeroTimeSeconds && (nanos === 0 || !micro)) return undefined
  const dateTime = new Date(seconds * 1000).toISOString().slice(0, 19)
  return micro ? `${dateTime}.${String(nanos).padStart(9, '0').slice(0, 6)}Z` : `${dateTime}Z`
}
