// Bytes with room in front of them: whoever sends them behind a head writes it there, where it would have to copy both otherwise.

/** More than the heads of answers take. */
const roomBytes = 1024
/** Below this a copy costs less than to remember that there is room. */
const fewBytes = 16 << 10
/** Larger ones are not sent in one piece with their head. */
export const mostRoomyBytes = 64 << 10

const roomy = new WeakSet<Uint8Array>()

/** Bytes to be filled, which nobody else uses. Where they are many, and may be sent in one piece with a head, they have room in front of them. */
export function allocateRoomy(bytes: number): Buffer {
  if (bytes < fewBytes || bytes > mostRoomyBytes) return Buffer.allocUnsafe(bytes)
  const body = Buffer.allocUnsafeSlow(roomBytes + bytes).subarray(roomBytes)
  roomy.add(body)
  return body
}

/** The same bytes behind so many others, which are for the caller to fill; undefined where there is no room. It can be used once. */
export function behindRoom(body: Uint8Array, bytes: number): Buffer | undefined {
  if (bytes > roomBytes || !roomy.delete(body)) return undefined
  return Buffer.from(body.buffer, body.byteOffset - bytes, bytes + body.length)
}
