// server.idle(): waits for controllers, requests and watchers, and names what is busy.

import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { createServer } from 'node:net'
import { after, before, test } from 'node:test'
import { type EmbeddedServer, startServer } from 'cluster-apiserver'

let server: EmbeddedServer
before(async () => {
  server = await startServer()
})
after(() => server.close({ immediately: true }))

test('after idle, controllers have finished and watchers have been sent everything', async () => {
  const { client } = server
  const seen: string[] = []
  const events = client.core.v1.serviceAccounts().watch()
  const reading = (async () => {
    for await (const { type, object } of events) seen.push(`${type} ${object.metadata?.namespace}`)
  })()
  await server.requests.until({ verb: 'watch' })
  await client.core.v1.namespaces().create({ metadata: { name: 'shop' } })
  await server.idle()
  assert.equal((await client.core.v1.serviceAccounts('shop').get('default')).metadata?.name, 'default')
  while (!seen.includes('ADDED shop')) await new Promise(setImmediate)
  await client.core.v1.namespaces().delete('shop')
  await server.idle()
  await assert.rejects(client.core.v1.namespaces().get('shop'), /not found/)
  await events.return?.(undefined)
  await reading
})

test('a watcher that does not read is named', async () => {
  const session = connect(server.url, { ca: server.caPem })
  const path = '/api/v1/namespaces/default/configmaps?watch=true'
  const stream = session.request({ ':path': path, authorization: `Bearer ${server.token}` })
  stream.on('error', () => undefined)
  await new Promise((resolve) => stream.once('response', resolve))
  await server.idle()
  // More than the flow-control window of the client, 64 KiB.
  const maps = server.client.core.v1.configMaps('default')
  for (const name of ['a', 'b']) await maps.create({ metadata: { name }, data: { a: 'x'.repeat(200_000) } })
  await assert.rejects(server.idle({ timeout: 100 }), (error: Error) => {
    assert.match(error.message, /^idle: after 100 ms the server is still busy:\n/)
    assert.ok(error.message.includes(`- watch of ${server.user}: ${path}: its client has not read `), error.message)
    return true
  })
  stream.resume()
  await server.idle()
  session.destroy()
})

test('requests in progress and busy controllers are named', async () => {
  // A webhook that accepts connections and never responds.
  const sockets = new Set<{ destroy(): void }>()
  const silent = createServer((socket) => void sockets.add(socket)).listen(0, '127.0.0.1')
  await new Promise((resolve) => silent.once('listening', resolve))
  const { port } = silent.address() as { readonly port: number }
  const { client } = server
  await client.core.v1.namespaces().create({ metadata: { name: 'stuck' } })
  await server.idle()
  await client.core.v1.configMaps('stuck').create({ metadata: { name: 'kept' } })
  const { validatingWebhookConfigurations } = client.admissionregistration.v1
  await validatingWebhookConfigurations().create({
    metadata: { name: 'silent' },
    webhooks: [
      {
        name: 'silent.example.com',
        clientConfig: { url: `https://127.0.0.1:${port}/` },
        rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: ['DELETE'], resources: ['configmaps', 'secrets'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        timeoutSeconds: 30,
      },
    ],
  })
  await client.core.v1.namespaces().delete('stuck')
  await client.core.v1.secrets('default').create({ metadata: { name: 'pin' } })
  const deletion = client.core.v1
    .secrets('default')
    .delete('pin')
    .catch(() => undefined)
  while (sockets.size < 2) await new Promise((resolve) => setTimeout(resolve, 2))
  await assert.rejects(server.idle({ timeout: '50ms' }), (error: Error) => {
    assert.match(error.message, /\n- controller namespace: stuck(?:\n|$)/)
    assert.ok(
      error.message.includes(`- request in progress: delete of ${server.user}: /api/v1/namespaces/default/secrets/pin`),
      error.message,
    )
    return true
  })
  await validatingWebhookConfigurations().delete('silent')
  for (const socket of sockets) socket.destroy()
  silent.close()
  await deletion
  await assert.rejects(server.idle({ timeOut: 1 } as object), /did you mean "timeout"\?/)
})
