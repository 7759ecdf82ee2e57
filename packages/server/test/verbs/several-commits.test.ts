// Requests with several commits, one of them of a large object: no commit is repeated, wherever the large object stands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { onEveryEngine } from '../../../../test/kit/embedded.js'

const count = 9
const limit = 5
/** Enough entries to exceed every limit for small objects. */
const large = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`key-${i}`, 'a value of some bytes']))

async function create(client: ApiClient, path: string, object: object): Promise<void> {
  const { status } = await client.post(path, object)
  assert.equal(status, 201, path)
}

onEveryEngine('requests with several commits', (client) => {
  for (const position of [0, 2, limit - 1]) {
    test(`DELETE with a limit deletes exactly that many with a large object at position ${position}`, async () => {
      const namespace = `several-${position}`
      await create(client(), '/api/v1/namespaces', { metadata: { name: namespace } })
      const path = `/api/v1/namespaces/${namespace}/configmaps`
      for (let i = 0; i < count; i++)
        await create(client(), path, { metadata: { name: `c-${i}`, labels: { of: 'test' } }, data: i === position ? large : {} })
      assert.equal((await client().delete(`${path}?labelSelector=of=test&limit=${limit}`)).status, 200)
      const { json } = await client().get(`${path}?labelSelector=of=test`)
      const names = json.items?.map(({ metadata }) => metadata?.name)
      assert.deepEqual(names, ['c-5', 'c-6', 'c-7', 'c-8'])
    })
  }
})
