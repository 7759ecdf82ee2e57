// server.leaks(): watches and connections that a test left open.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'
import { clientOf } from '../../../../test/kit/embedded.js'

const kindsOf = (server: EmbeddedServer): readonly string[] => server.leaks().map(({ kind, user, path }) => `${kind} ${user} ${path}`)

test('open watches and connections of other clients are leaks, until they end', async () => {
  const server = await startServer()
  await server.client.core.v1.namespaces().list()
  await server
    .as('alice')
    .client.core.v1.namespaces()
    .list()
    .catch(() => undefined)
  assert.deepEqual(server.leaks(), [], 'the clients of the server are closed with it')
  const other = clientOf(server)
  await other.get('/version')
  assert.deepEqual(kindsOf(server), [`idle connection ${server.user} /version`])
  const path = '/api/v1/namespaces/default/configmaps?watch=true'
  const watch = await other.watch(path)
  assert.deepEqual(kindsOf(server), [`watch ${server.user} ${path}`])
  assert.ok(server.leaks()[0]?.since instanceof Date)
  watch.close()
  other.close()
  while (server.leaks().length > 0) await new Promise(setImmediate)
  await server.close()
  assert.deepEqual(server.leaks(), [])
})

test('after close, leaks are the ones that were open then', async () => {
  const server = await startServer()
  const events = server.client.core.v1.configMaps('default').watch()
  const next = events.next().catch(() => undefined)
  await server.requests.until({ verb: 'watch' })
  await server.close({ immediately: true })
  assert.deepEqual(
    server.leaks().map(({ kind, user, userAgent }) => [kind, user, userAgent]),
    [['watch', server.user, 'cluster-apiserver-client/embedded']],
    'also a watch of the client of the server',
  )
  await next
})
