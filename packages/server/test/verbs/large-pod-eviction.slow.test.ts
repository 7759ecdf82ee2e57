// Requests of several commits with a large object among those they write: no commit is repeated, wherever the large object stands.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../kit/api-client.js'
import { onEveryEngine } from '../kit/embedded.js'

const count = 9
const limit = 5
const merge = 'application/merge-patch+json'
/** Enough entries to be large by any measure of bytes or parts. */
const large = Object.fromEntries(Array.from({ length: 12_000 }, (_, i) => [`key-${i}`, 'a value of some bytes']))

async function created(client: ApiClient, path: string, object: object): Promise<void> {
  const { status } = await client.post(path, object)
  assert.equal(status, 201, path)
}

onEveryEngine(
  'requests of several commits',
  (client) => {
    for (let position = 0; position < limit; position++) {
      test(`DELETE with a limit deletes exactly that many with a large object at position ${position}`, async () => {
        const namespace = `several-${position}`
        await created(client(), '/api/v1/namespaces', { metadata: { name: namespace } })
        const path = `/api/v1/namespaces/${namespace}/configmaps`
        for (let i = 0; i < count; i++)
          await created(client(), path, { metadata: { name: `c-${i}`, labels: { of: 'test' } }, data: i === position ? large : {} })
        assert.equal((await client().delete(`${path}?labelSelector=of=test&limit=${limit}`)).status, 200)
        const { json } = await client().get(`${path}?labelSelector=of=test`)
        const names = json.items?.map(({ metadata }) => metadata?.name)
        assert.deepEqual(names, ['c-5', 'c-6', 'c-7', 'c-8'])
      })
    }

    // In small steps: the condition that an eviction adds makes one of these pods a large one.
    for (let commas = 1_600; commas < 2_000; commas += 16) {
      test(`an eviction charges the disruption budget once, with a pod of ${commas} commas`, async () => {
        const namespace = `evicted-${commas}`
        await created(client(), '/api/v1/namespaces', { metadata: { name: namespace } })
        const base = `/api/v1/namespaces/${namespace}`
        const annotations = { long: ','.repeat(commas) + 'x'.repeat(20_000) }
        await created(client(), `${base}/serviceaccounts`, { metadata: { name: 'pod-user' } })
        const spec = { serviceAccountName: 'pod-user', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] }
        await created(client(), `${base}/pods`, { metadata: { name: 'p', labels: { app: 'a' }, annotations }, spec })
        const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
        const patched = await client().patch(`${base}/pods/p/status`, merge, { status })
        assert.equal(patched.status, 200)
        const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
        await created(client(), budgets, { metadata: { name: 'b' }, spec: { minAvailable: 0, selector: { matchLabels: { app: 'a' } } } })
        const allowed = { status: { observedGeneration: 1, expectedPods: 9, currentHealthy: 9, desiredHealthy: 0, disruptionsAllowed: 9 } }
        assert.equal((await client().patch(`${budgets}/b/status`, merge, allowed)).status, 200)
        assert.equal((await client().post(`${base}/pods/p/eviction`, { metadata: { name: 'p' } })).status, 201)
        const { json } = await client().get(`${budgets}/b`)
        assert.equal((json as unknown as { status: { disruptionsAllowed: number } }).status.disruptionsAllowed, 8)
      })
    }
  },
  ['--controllers=-disruption', '--feature-gates=PodDisruptionConditions=true'],
)
