// Writing to streams with backpressure.

import type { Writable } from 'node:stream'

/** Resolves when the stream accepts more data: true, or false if it is destroyed. */
export async function writeDrained(stream: Writable, data: string | Uint8Array): Promise<boolean> {
  if (stream.destroyed) return false
  return stream.write(data) || untilDrained(stream)
}

export async function untilDrained(stream: Writable): Promise<boolean> {
  // A stream that was destroyed during the write may emit neither 'drain' nor 'close' anymore.
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
