// What this Node has is known, and what one lacks is named once.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { after, test } from 'node:test'
import type { Logger } from '../base/logger.js'
import { whileCounting } from '../base/turn-count.fixture.js'
import { issueCertificate } from './issue-certificate.js'
import { lookAtNode, type NodeInsides, nodeProbes, type Probes, warnOfMissing } from './node-insides.js'
import { handleOf } from './socket-handle.js'

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const { cert } = issueCertificate({ commonName: 'ca', use: 'authority', ...times })
const servers: Server[] = []
after(() => {
  for (const server of servers) server.close()
})

async function listening(): Promise<Server> {
  const server = createServer()
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return server
}

async function insidesHere(): Promise<NodeInsides> {
  const server = await listening()
  const under = handleOf(server)
  const { made: parser } = nodeProbes.parser()
  const { made: encrypted } = nodeProbes.encrypted(nodeProbes.context(cert))
  const { made: session } = nodeProbes.session(nodeProbes.http2())
  return { parser, session, server, listening: under, connections: [under, encrypted] }
}

interface Told {
  readonly withoutEffect: readonly string[]
  readonly failures?: readonly string[]
}

/** Each line of the log. */
function logged(): { readonly told: readonly Told[]; readonly logger: Logger } {
  const told: Told[] = []
  return { told, logger: { warn: (fields: Told) => void told.push(fields) } as unknown as Logger }
}

/** What is said to be without effect, one list for each line of the log. */
function toldOf(insides: NodeInsides): readonly (readonly string[])[] {
  const { told, logger } = logged()
  warnOfMissing(logger, insides)
  return told.map(({ withoutEffect }) => withoutEffect)
}

const http1 = ['small parts of HTTP/1.1 bodies are counted', 'HTTP/1.1 is read in pieces']
const http2 = 'HTTP/2 is read in pieces'
const accepting = 'connections are accepted a few at a time'
const reading = 'reading stops between turns'
const ending = 'connections are ended a few at a time'
const idling = 'idle connections are closed a few at a time'

/** The same but for what is under these names. */
const without = (value: unknown, ...names: readonly string[]): object =>
  Object.create(value as object, Object.fromEntries(names.map((name) => [name, { value: undefined }])))

test('all of it is known on this platform', async () => {
  assert.deepEqual(toldOf(await insidesHere()), [])
})

test('what is missing is named, all of it in one line', async () => {
  const real = await insidesHere()
  const [tcp, tls] = real.connections
  for (const [changes, expected] of [
    [{ parser: undefined }, [...http1, http2]],
    [{ parser: {} }, [...http1, http2]],
    [{ parser: Object.create(null) }, [...http1, http2]],
    [{ parser: without(real.parser, 'consume') }, [http1[1], http2]],
    [{ parser: without(real.parser, '_consumed') }, [http1[1]]],
    [{ session: undefined }, [http2]],
    [{ session: { [Symbol('handle')]: {} } }, [http2]],
    [{ listening: without(real.listening, 'onconnection') }, [accepting]],
    [{ connections: [without(tcp, 'readStop'), tls] }, [reading]],
    // What only inherits from a handle has no `onread`.
    [{ connections: [tcp, without(tls, 'readStart')] }, [reading, ending]],
    [{ connections: [tcp, without(tls, 'onread')] }, [ending]],
    [{ server: {} }, [idling]],
    [
      { parser: null, session: null, server: null, listening: null, connections: [null] },
      [...http1, http2, accepting, reading, ending, idling],
    ],
  ] as const)
    assert.deepEqual(toldOf({ ...real, ...changes }), [expected])
})

test('all of it is known when it is looked at, one thing in each turn of the event loop', async () => {
  const { told, logger } = logged()
  const turns: number[] = []
  await whileCounting(async (count) => {
    const counted = <A extends unknown[], T>(probe: (...given: A) => T): ((...given: A) => T) => {
      return (...given) => {
        turns.push(count.turn)
        return probe(...given)
      }
    }
    const { parser, context, encrypted, http2: server, session } = nodeProbes
    const probes: Probes = {
      parser: counted(parser),
      context: counted(context),
      encrypted: counted(encrypted),
      http2: counted(server),
      session: counted(session),
    }
    await lookAtNode(await listening(), cert, logger, probes)
  })
  assert.deepEqual(told, [])
  assert.equal(turns.length, 5)
  assert.equal(new Set(turns).size, 5, turns.join())
})

test('what throws when it is looked at is missing, and ends nothing', async () => {
  const refuse = (): never => {
    throw new Error('not here')
  }
  for (const [changes, expected] of [
    [{ parser: refuse }, [...http1, http2]],
    [{ context: refuse }, [reading, ending]],
    [{ encrypted: refuse }, [reading, ending]],
    [{ http2: refuse }, [http2]],
    [{ session: refuse }, [http2]],
  ] as const) {
    const { told, logger } = logged()
    await lookAtNode(await listening(), cert, logger, { ...nodeProbes, ...changes })
    assert.deepEqual(
      told.map(({ withoutEffect, failures }) => ({ withoutEffect, failures })),
      [{ withoutEffect: expected, failures: ['not here'] }],
    )
  }
})
