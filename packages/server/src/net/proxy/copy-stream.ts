// Copies a stream with back-pressure. Joins small chunks, because each write has a cost: a body may come in chunks of one byte.

import type { Readable, Writable } from 'node:stream'
import { ChunkBuffer } from '../outbound/chunk-buffer.js'
import { ReadPacing } from './read-pacing.js'

/** Smaller chunks are joined: copying them is cheaper than a write. */
const smallChunkBytes = 4096

interface CopyOptions {
  readonly onData?: ((bytes: number) => void) | undefined
  /** True if the target is closed: the rest is read and dropped. */
  readonly isTargetClosed: () => boolean
  readonly onEnd: () => void
}

export function copyStream(from: Readable, to: Writable, { onData, isTargetClosed, onEnd }: CopyOptions): void {
  const waiting = new ChunkBuffer()
  const write = (bytes: Buffer): void => {
    if (!isTargetClosed() && !to.write(bytes)) from.pause()
  }
  const flush = (): void => {
    if (waiting.bytes === 0) return
    const joined = waiting.join()
    waiting.clear()
    write(joined)
  }
  const pacing = new ReadPacing(from, () => to.writableNeedDrain)
  from.on('data', (chunk: Buffer) => {
    pacing.count(chunk.length)
    onData?.(chunk.length)
    if (chunk.length < smallChunkBytes) {
      if (waiting.bytes === 0) process.nextTick(flush)
      waiting.add(chunk)
      return
    }
    flush()
    write(chunk)
  })
  to.on('drain', () => from.resume())
  from.on('end', () => {
    flush()
    if (!isTargetClosed()) onEnd()
  })
}
