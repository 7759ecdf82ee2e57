// Bytes that can be given to another thread: those that nobody else has a part of.

import { isRoomy } from '../../base/front-room.js'
import type { OwnBytes } from './messages.js'

export const copyOf = (bytes: Uint8Array): OwnBytes => new Uint8Array(bytes) as OwnBytes

/** A slice of memory that others have a part of cannot be given away. Room for a head is nobody's part. */
export const ownBytes = (bytes: Uint8Array): OwnBytes =>
  bytes.buffer instanceof ArrayBuffer && (bytes.byteLength === bytes.buffer.byteLength || isRoomy(bytes))
    ? (bytes as OwnBytes)
    : copyOf(bytes)
