// What comes on a connection of HTTP/1.1 in small parts is counted, and parts of a body that come with one reading are handed on together: each
// by itself costs as much as a few kilobytes.
//
// Node has no words for that: its parser takes the bytes from the connection itself, and says by functions under numbers what it has found.

import type { Socket } from 'node:net'
import { GatheredParts } from './gathered-parts.js'
import type { PacedInputs } from './paced-input.js'
import type { ReadTurns } from './read-turns.js'

/** Records that are longer cost less than their bytes do. */
const smallBytes = 512
/** So many parts of a body are handed on by themselves in a turn. */
const partsByThemselves = 32
/** What is let go may be in any number of chunks: so much of it counts as a part. */
const unseenBytes = 64
/** At so many in what was read at once, less of it is handed to the parser at a time. */
const partsUntilPaced = 1000
/** So much of them is kept together. */
const mostBytes = 1 << 16

type Found = (this: Parser, ...found: unknown[]) => unknown

interface Parser {
  [number: number]: Found | null | undefined
  readonly socket: Socket | null
  /** The request that is being read, or was last. */
  readonly incoming?: { readonly _dumped?: boolean } | null
  /** Whether it takes the bytes from the connection itself. */
  readonly _consumed?: boolean
}

interface ParserNumbers {
  readonly kOnBody: number
  readonly kOnMessageComplete: number
  readonly kOnExecute: number
}

interface Usual {
  readonly onBody: Found | null | undefined
  readonly onComplete: Found | null | undefined
}

/** What Node made parsers with: one can come back for the same connection before it was left. */
const usual = new WeakMap<Parser, Usual>()

const numbersOf = (parser: Parser): ParserNumbers => (parser as unknown as { readonly constructor: ParserNumbers }).constructor

/** What Node's server of HTTP/1.1 reads a connection with. */
export const parserOf = (socket: object): Parser | null | undefined => (socket as { readonly parser?: Parser | null }).parser

/** Whether it says what it finds by the functions that are known here: parts are not counted otherwise, and whoever sends many holds others. */
export function isParserKnown(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  const parser = value as Parser
  const { kOnBody, kOnMessageComplete, kOnExecute } = numbersOf(parser)
  return [kOnBody, kOnMessageComplete, kOnExecute].every((number) => !!parser[number])
}

export interface PartLimits {
  readonly turns: ReadTurns
  readonly paced: PacedInputs
}

/** For a connection that was just handed to Node's server of HTTP/1.1. */
export function countHttp1Parts(socket: Socket, { turns, paced }: PartLimits): void {
  const reading = turns.of(socket)
  const parser = parserOf(socket)
  if (!parser) return
  const numbers = numbersOf(parser)
  const known = usual.get(parser) ?? { onBody: parser[numbers.kOnBody], onComplete: parser[numbers.kOnMessageComplete] }
  const { onBody, onComplete } = known
  const onExecute = parser[numbers.kOnExecute]
  if (!onBody || !onComplete || !onExecute) return
  usual.set(parser, known)
  const waiting = new GatheredParts()
  /** In this turn of the event loop. */
  let parts = 0
  let countedParts = 0
  let isTurnCounted = false
  let isPaced = false
  const handOn = (): void => {
    if (waiting.bytes === 0) return
    const whole = waiting.whole()
    waiting.clear()
    onBody.call(parser, whole)
  }
  const countTurn = (): void => {
    if (isTurnCounted) return
    isTurnCounted = true
    setImmediate(endTurn)
  }
  const endTurn = (): void => {
    isTurnCounted = false
    parts = 0
    countedParts = 0
    if (parser.socket === socket) handOn()
  }
  const take: Found = (part) => {
    if (parser.incoming?._dumped === true) {
      // Nobody waits for the rest of it: Node then makes no parts of it at all.
      parser[numbers.kOnBody] = null
      return undefined
    }
    if (++parts > partsByThemselves && (isPaced || parser._consumed === true) && part instanceof Uint8Array && part.length < smallBytes) {
      waiting.add(part as Buffer)
      countTurn()
      if (waiting.bytes >= mostBytes) handOn()
      return undefined
    }
    handOn()
    return onBody.call(parser, part)
  }
  // Parsers are used for other connections afterwards.
  const stop = (): void => {
    waiting.clear()
    parser[numbers.kOnBody] = onBody
    parser[numbers.kOnMessageComplete] = onComplete
    socket.off('close', stop)
  }
  parser[numbers.kOnBody] = take
  parser[numbers.kOnMessageComplete] = (...found) => {
    handOn()
    parser[numbers.kOnBody] = take
    return onComplete.apply(parser, found)
  }
  parser[numbers.kOnExecute] = (...found) => {
    const [bytes] = found
    const isLetGo = parser[numbers.kOnBody] === null
    const came = isLetGo && typeof bytes === 'number' ? bytes / unseenBytes : parts - countedParts
    if (came > 1 || (typeof bytes === 'number' && bytes < smallBytes)) {
      countedParts = parts
      turns.count(reading, came + 1)
      countTurn()
    } else parts = countedParts
    const result = onExecute.apply(parser, found)
    if (parser.socket !== socket) stop()
    else if (came >= partsUntilPaced && !isLetGo && parser._consumed === true) {
      isPaced = true
      paced.pace(socket)
    }
    return result
  }
  socket.once('close', stop)
}
