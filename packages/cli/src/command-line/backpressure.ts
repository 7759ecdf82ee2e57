// Writing no faster than the other side reads.

import type { Writable } from 'node:stream'

/** Settles when there is room for more; false where the stream is gone, and nothing more needs to be written. */
export async function writeOn(stream: Writable, data: string | Uint8Array): Promise<boolean> {
  if (stream.destroyed) return false
  return stream.write(data) || untilRoom(stream)
}

/** The same, without anything to write. */
export async function untilRoom(stream: Writable): Promise<boolean> {
  // A stream may have gone while it was written to: then neither event comes any more.
  if (!stream.destroyed && stream.writableNeedDrain)
    await new Promise<void>((resolve) => {
      const settle = (): void => {
        stream.off('drain', settle).off('close', settle)
        resolve()
      }
      stream.on('drain', settle).on('close', settle)
    })
  return !stream.destroyed
}
