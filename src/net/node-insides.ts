// What the pacing of connections takes from Node although Node does not promise it. Where a version lacks some of it everything is served as before,
// but whoever sends very much at once holds others: the log says so once, with what is without effect.

import type { Http2Server } from 'node:http2'
import type { Server, Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { Logger } from '../base/logger.js'
import { isBeginningKnown } from './begun-tls.js'
import { isParserKnown } from './http1-parts.js'
import { receiverOf } from './http2-input.js'
import { connectionsOf } from './idle-connections.js'
import { type MadeUp, madeUpParser, silentConnection } from './made-up-connection.js'
import { isEndKnown } from './paced-ends.js'
import { handleOf } from './socket-handle.js'

/** One of each, as this version of Node makes them. */
export interface NodeInsides {
  /** Of HTTP/1.1. */
  readonly parser: unknown
  /** Of HTTP/2. */
  readonly session: unknown
  /** A server of HTTP/1.1 that listens, and what is under it. */
  readonly server: unknown
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
  {
    name: 'connections are ended a few at a time',
    isPossible: ({ connections }) => connections.some(isEndKnown) && isBeginningKnown(),
  },
  { name: 'idle connections are closed a few at a time', isPossible: ({ server }) => connectionsOf(server) !== undefined },
]

/** One line for all that this version of Node does not make possible, if anything. `failures`: what was thrown while it was looked for. */
export function warnOfMissing(logger: Logger, insides: NodeInsides, failures: readonly string[] = []): void {
  const missing = measures.filter(({ isPossible }) => !isCertain(() => isPossible(insides))).map(({ name }) => name)
  if (missing.length === 0) return
  const fields = { node: process.version, withoutEffect: missing, ...(failures.length === 0 ? {} : { failures }) }
  logger.warn(fields, 'this Node.js is not known: much that comes at once may hold others')
}

/** What cannot even be looked at is not there. */
function isCertain(isSo: () => boolean): boolean {
  try {
    return isSo()
  } catch {
    return false
  }
}

/** How one of each is made, with any certificate to trust: without one Node reads all those that it comes with. */
export interface Probes {
  readonly parser: () => MadeUp<unknown>
  readonly context: (ca: string) => SecureContext
  readonly encrypted: (context: SecureContext) => MadeUp<unknown>
  readonly http2: () => Http2Server
  readonly session: (http2: Http2Server) => MadeUp<unknown>
}

export const nodeProbes: Probes = {
  parser: madeUpParser,
  context: (ca) => createSecureContext({ ca }),
  encrypted: (secureContext) => {
    // As a client has it before it is connected: to read from a stream of another kind would have to be loaded.
    const socket = new TLSSocket(undefined as unknown as Socket, { isServer: true, secureContext })
    socket.on('error', () => undefined)
    return { made: handleOf(socket), close: () => void socket.destroy() }
  },
  http2: () => process.getBuiltinModule('node:http2').createServer(),
  session: (http2) => {
    const socket = silentConnection()
    let made: unknown
    http2.once('session', (session) => {
      made = session.on('error', () => undefined)
    })
    http2.emit('connection', socket)
    return { made, close: () => void socket.destroy() }
  },
}

/**
 * Looks at what this Node has, a little in each turn of the event loop: all of it takes 12 ms. What speaks HTTP/2 is loaded with that, before somebody
 * speaks it, who would wait for that. What cannot be made counts as missing.
 */
export async function lookAtNode(server: Server, ca: string, logger: Logger, probes = nodeProbes): Promise<void> {
  const failures: string[] = []
  const opened: MadeUp<unknown>[] = []
  const attempt = async <T>(probe: () => T): Promise<T | undefined> => {
    await nextTurn()
    try {
      return probe()
    } catch (error) {
      failures.push(error instanceof Error ? error.message : String(error))
      return undefined
    }
  }
  const look = async (probe: () => MadeUp<unknown>): Promise<unknown> => {
    const made = await attempt(probe)
    if (made !== undefined) opened.push(made)
    return made?.made
  }
  // At once: a server that is closed meanwhile has nothing under it.
  const listening = handleOf(server)
  const parser = await look(probes.parser)
  const context = await attempt(() => probes.context(ca))
  const encrypted = context && (await look(() => probes.encrypted(context)))
  const http2 = await attempt(probes.http2)
  const session = http2 && (await look(() => probes.session(http2)))
  warnOfMissing(logger, { parser, session, server, listening, connections: [listening, encrypted] }, failures)
  for (const each of opened) each.close()
}
