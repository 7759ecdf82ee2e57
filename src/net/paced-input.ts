// What comes on a connection of HTTP/1.1 in very many parts is handed to the parser a little at a time. Node's parser takes what was read at once, up
// to 64 KiB, and of chunks of one byte these are eleven thousand, which take 25 ms. So for a connection that has sent a thousand parts in a row the
// parser no longer takes bytes from it directly, as Node itself has it for connections that others read from as well; they wait between the
// connection and its stream, and a piece of them goes on when it is their turn.

import type { Socket } from 'node:net'
import { GatheredParts } from './gathered-parts.js'
import { setFeeder } from './read-control.js'

/** So much is handed on at a time: of chunks of one byte these are 340. */
const pieceBytes = 2048
/** For how long that is done in a turn of the event loop, for all connections. */
const turnMs = 3

type Push = (part: Buffer | null) => boolean

export class PacedInputs {
  /** In the order in which they have their turn. */
  readonly #waiting = new Set<PacedInput>()
  #isPlanned = false

  /** From now on, until the connection is closed. */
  pace(socket: Socket): void {
    const input = new PacedInput(socket, () => this.#plan(input))
    // This is how Node is told that somebody wants to see the bytes; they still go to the parser.
    socket.on('data', seen)
    socket.off('data', seen)
  }

  #plan(input: PacedInput): void {
    this.#waiting.add(input)
    if (this.#isPlanned) return
    this.#isPlanned = true
    setImmediate(() => this.#takeTurn())
  }

  #takeTurn(): void {
    this.#isPlanned = false
    const until = performance.now() + turnMs
    do {
      const [input] = this.#waiting
      if (input === undefined) return
      this.#waiting.delete(input)
      // It plans its next piece itself when the stream wants more.
      input.feed()
    } while (performance.now() < until)
    const [next] = this.#waiting
    if (next !== undefined) this.#plan(next)
  }
}

const seen = (): void => undefined

class PacedInput {
  readonly #socket: Socket
  readonly #push: Push
  readonly #plan: () => void
  readonly #waiting = new GatheredParts()
  /** What is being handed on. */
  #piece: Buffer = Buffer.alloc(0)
  #isEnded = false
  /** Whether the stream waits for more: it did when this began. */
  #isWanted = true
  #isStopped = false

  constructor(socket: Socket, plan: () => void) {
    this.#socket = socket
    this.#plan = plan
    const { push, _read: read } = socket
    this.#push = push.bind(socket)
    socket.push = (part: Buffer | null) => this.#take(part)
    socket._read = (size) => {
      this.#isWanted = true
      if (this.#isEmpty) read.call(socket, size)
      else this.#plan()
    }
    setFeeder(socket, {
      stop: () => {
        this.#isStopped = true
      },
      goOn: () => {
        this.#isStopped = false
        if (!this.#isEmpty) this.#plan()
        else if (this.#isWanted) read.call(socket, pieceBytes)
      },
    })
  }

  get #isEmpty(): boolean {
    return this.#piece.length === 0 && this.#waiting.bytes === 0 && !this.#isEnded
  }

  /** Nothing more is read until it was handed on. */
  #take(part: Buffer | null): boolean {
    if (part === null) this.#isEnded = true
    else this.#waiting.add(part)
    this.#plan()
    return false
  }

  feed(): void {
    if (!this.#isWanted || this.#isStopped || this.#socket.destroyed) return
    if (this.#piece.length === 0) {
      this.#piece = this.#waiting.whole()
      this.#waiting.clear()
    }
    if (this.#piece.length === 0) {
      if (!this.#isEnded) return
      this.#isEnded = false
      this.#push(null)
      return
    }
    const piece = this.#piece.subarray(0, pieceBytes)
    this.#piece = this.#piece.subarray(piece.length)
    this.#isWanted = false
    this.#push(piece)
  }
}
