// Reading an object through a view is cached like reading the object: once, however often it is asked for.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startEmbedded } from '../kit/embedded.js'
import { expectStatus } from '../kit/fixtures.js'

const forms = ['application/json', 'application/vnd.cluster.protobuf', 'application/json;as=Table;g=meta.cluster.io;v=v1']

test('GET of a scale does not fill the cache with each request', async () => {
  const { client, close } = await startEmbedded('memory')
  try {
    const deployments = '/apis/apps/v1/namespaces/default/deployments'
    const template = { metadata: { labels: { app: 'd' } }, spec: { containers: [{ name: 'c', image: 'i' }] } }
    const spec = { selector: { matchLabels: { app: 'd' } }, template }
    expectStatus(await client.post(deployments, { metadata: { name: 'd' }, spec }), 201)
    const read = async (): Promise<void> => {
      for (const accept of forms) expectStatus(await client.get(`${deployments}/d/scale`, { accept }), 200)
    }
    const cached = async (): Promise<number> => Number(/^apiserver_read_cache_bytes (\S+)$/m.exec((await client.get('/metrics')).text)?.[1])
    await read()
    // The loops of the server read as well, though not all the time: if the requests fill the cache, no round leaves it as it was.
    const sizes = [await cached()]
    for (let i = 0; i < 20; i++) {
      await read()
      sizes.push(await cached())
    }
    assert.ok(sizes.every((size) => size > 0))
    assert.ok(
      sizes.some((size, i) => size === sizes[i - 1]),
      `the cache grows with each round: ${sizes.join(' ')}`,
    )
  } finally {
    await close()
  }
})
