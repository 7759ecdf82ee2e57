// Loading the server: import and require return the same function, and `await using` closes a server.

import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { startServer } from 'cluster-apiserver'

test('import and require return the same function', () => {
  const required = createRequire(import.meta.url)('cluster-apiserver') as { readonly startServer: unknown }
  assert.equal(required.startServer, startServer)
  assert.deepEqual(Object.keys(required), ['startServer', 'replayReviews'])
})

test('"await using" closes the server', async () => {
  let url: string
  {
    const server = await startServer()
    url = server.url
    await server[Symbol.asyncDispose]()
  }
  await assert.rejects(fetch(url))
})
