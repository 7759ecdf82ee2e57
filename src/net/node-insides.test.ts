// What this Node has is known, and what one lacks is named once.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { after, test } from 'node:test'
import type { Logger } from '../base/logger.js'
import { issueCertificate } from './issue-certificate.js'
import { insidesOf, type NodeInsides, warnOfMissing } from './node-insides.js'

const times = { notBefore: Date.now() - 1000, notAfter: Date.now() + 3_600_000 }
const { cert } = issueCertificate({ commonName: 'ca', use: 'authority', ...times })
const servers: Server[] = []
after(() => {
  for (const server of servers) server.close()
})

async function insidesHere(): Promise<NodeInsides> {
  const server = createServer()
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return insidesOf(server, cert)
}

/** What is said to be without effect, one list for each line of the log. */
function toldOf(insides: NodeInsides): readonly (readonly string[])[] {
  const told: (readonly string[])[] = []
  const warn = ({ withoutEffect }: { readonly withoutEffect: readonly string[] }): void => void told.push(withoutEffect)
  warnOfMissing({ warn } as unknown as Logger, insides)
  return told
}

const http1 = ['small parts of HTTP/1.1 bodies are counted', 'HTTP/1.1 is read in pieces']
const http2 = 'HTTP/2 is read in pieces'
const accepting = 'connections are accepted a few at a time'
const reading = 'reading stops between turns'

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
    [{ parser: without(real.parser, 'consume') }, [http1[1], http2]],
    [{ parser: without(real.parser, '_consumed') }, [http1[1]]],
    [{ session: undefined }, [http2]],
    [{ session: { [Symbol('handle')]: {} } }, [http2]],
    [{ listening: without(real.listening, 'onconnection') }, [accepting]],
    [{ connections: [without(tcp, 'readStop'), tls] }, [reading]],
    [{ connections: [tcp, without(tls, 'readStart')] }, [reading]],
    [{ parser: null, session: null, listening: null, connections: [null] }, [...http1, http2, accepting, reading]],
  ] as const)
    assert.deepEqual(toldOf({ ...real, ...changes }), [expected])
})
