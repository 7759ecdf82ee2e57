// The bytes of a connection as they come from the system, before anybody else has them, and without whoever writes to the connection noticing.
//
// Node has no words for that. Its parser of HTTP/1.1 can take the bytes of a connection; one that was told of a body without end has nothing to
// parse, and says of each part what it is.

import { madeUpParser } from './made-up-connection.js'

type TakePart = (part: Buffer) => void

interface BodyParser {
  [number: number]: TakePart
  initialize(type: number, resource: object): void
  execute(bytes: Buffer): unknown
  consume(handle: object): void
  unconsume(): void
  close(): void
}

interface ParserClass {
  new (): BodyParser
  readonly REQUEST: number
  readonly kOnBody: number
}

const endlessHead = Buffer.from(`POST / HTTP/1.1\r\nContent-Length: ${Number.MAX_SAFE_INTEGER}\r\n\r\n`)

let known: ParserClass | undefined

function parserClass(): ParserClass {
  if (known !== undefined) return known
  const { made, close } = madeUpParser()
  known = (made as { readonly constructor: ParserClass }).constructor
  close()
  return known
}

/** Whoever read from `handle` gets nothing any more but its end. To be called to leave it as it was. */
export function takeRawBytes(handle: object, take: TakePart): () => void {
  const Parser = parserClass()
  const parser = new Parser()
  parser.initialize(Parser.REQUEST, {})
  parser.execute(endlessHead)
  parser[Parser.kOnBody] = take
  parser.consume(handle)
  return () => {
    parser.unconsume()
    // It may be what this was called from.
    setImmediate(() => parser.close())
  }
}
