// What comes from one side goes to the other, no faster than it is taken there. Small parts that come in one turn of the event loop go as one: a
// body in chunks of one byte would otherwise be written ten thousand times in a turn.

import type { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import { GatheredParts } from './gathered-parts.js'
import { ReadPauses } from './read-pauses.js'

/** To copy less than that is cheaper than to write it by itself. */
const smallBytes = 4096

export interface PassingOn {
  /** Where it comes from; left out: from many at once. */
  readonly socket: Socket | null | undefined
  /** A part has come. */
  readonly onData?: ((bytes: number) => void) | undefined
  /** Nothing more is taken: what is left is read and let go. */
  readonly isOver: () => boolean
  /** Everything was passed on. */
  readonly onEnd: () => void
}

export function passOn(from: Readable, to: Writable, { socket, onData, isOver, onEnd }: PassingOn): void {
  const waiting = new GatheredParts()
  const write = (part: Buffer): void => {
    if (!isOver() && !to.write(part)) from.pause()
  }
  const flush = (): void => {
    if (waiting.bytes === 0) return
    const whole = waiting.whole()
    waiting.clear()
    write(whole)
  }
  const pauses = new ReadPauses(socket)
  from.on('data', (part: Buffer) => {
    pauses.count(part.length)
    onData?.(part.length)
    if (part.length < smallBytes) {
      if (waiting.bytes === 0) process.nextTick(flush)
      waiting.add(part)
      return
    }
    flush()
    write(part)
  })
  to.on('drain', () => from.resume())
  from.on('end', () => {
    flush()
    if (!isOver()) onEnd()
  })
}
