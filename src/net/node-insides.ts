// What the pacing of connections takes from Node although Node does not promise it. Where a version lacks some of it everything is served as before,
// but whoever sends very much at once holds others: the log says so once, with what is without effect.

import { createServer, type Server } from 'node:http'
import { Duplex } from 'node:stream'
import { createSecureContext, TLSSocket } from 'node:tls'
import type { Logger } from '../base/logger.js'
import { isParserKnown, parserOf } from './http1-parts.js'
import { receiverOf } from './http2-input.js'
import { handleOf } from './socket-handle.js'

/** One of each, as this version of Node makes them. */
export interface NodeInsides {
  /** Of HTTP/1.1. */
  readonly parser: unknown
  /** Of HTTP/2. */
  readonly session: unknown
  /** What is under a server that listens. */
  readonly listening: unknown
  /** What is under a connection, without and with TLS. */
  readonly connections: readonly unknown[]
}

interface Measure {
  /** As the log has it. */
  readonly name: string
  readonly isPossible: (insides: NodeInsides) => boolean
}

function has(value: unknown, ...names: readonly string[]): boolean {
  return names.every((name) => typeof (value as Readonly<Record<string, unknown>> | null | undefined)?.[name] === 'function')
}

const takesBytes = ({ parser }: NodeInsides): boolean => isParserKnown(parser) && has(parser, 'consume', 'unconsume')

const measures: readonly Measure[] = [
  { name: 'small parts of HTTP/1.1 bodies are counted', isPossible: ({ parser }) => isParserKnown(parser) },
  {
    name: 'HTTP/1.1 is read in pieces',
    isPossible: (insides) => takesBytes(insides) && typeof (insides.parser as { readonly _consumed?: unknown })._consumed === 'boolean',
  },
  { name: 'HTTP/2 is read in pieces', isPossible: (insides) => takesBytes(insides) && receiverOf(insides.session) !== undefined },
  { name: 'connections are accepted a few at a time', isPossible: ({ listening }) => has(listening, 'onconnection') },
  {
    name: 'reading stops between turns',
    isPossible: ({ connections }) => connections.every((connection) => has(connection, 'readStop', 'readStart')),
  },
]

/** One line for all that this version of Node does not make possible, if anything. */
export function warnOfMissing(logger: Logger, insides: NodeInsides): void {
  const missing = measures.filter(({ isPossible }) => !isPossible(insides)).map(({ name }) => name)
  if (missing.length > 0)
    logger.warn({ node: process.version, withoutEffect: missing }, 'this Node.js is not known: much that comes at once may hold others')
}

const silent = (): Duplex => new Duplex({ read: () => undefined, write: (_part, _encoding, done) => done() })

/** Of a server that listens, for which connections are made up on which nobody says anything; `ca`: any certificate. */
export function insidesOf(server: Server, ca: string): NodeInsides {
  const [plain, encrypted, multiplexed] = [silent(), silent(), silent()]
  createServer().emit('connection', plain)
  const parser = parserOf(plain)
  // With a certificate to trust Node does not read all those that it comes with.
  const secure = new TLSSocket(encrypted, { isServer: true, secureContext: createSecureContext({ ca }) })
  let session: unknown
  const http2 = process.getBuiltinModule('node:http2').createServer()
  http2.on('session', (made) => {
    session = made.on('error', () => undefined)
  })
  http2.emit('connection', multiplexed)
  const listening = handleOf(server)
  const insides = { parser, session, listening, connections: [listening, handleOf(secure)] }
  setImmediate(() => {
    for (const each of [plain, secure, encrypted, multiplexed]) each.on('error', () => undefined).destroy()
  })
  return insides
}
