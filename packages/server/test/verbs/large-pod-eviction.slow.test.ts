// Eviction of pods around the size limit for large objects: no commit is repeated, so the PodDisruptionBudget is charged once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { onEveryEngine } from '../../../../test/kit/embedded.js'

const merge = 'application/merge-patch+json'

async function create(client: ApiClient, path: string, object: object): Promise<void> {
  const { status } = await client.post(path, object)
  assert.equal(status, 201, path)
}

onEveryEngine(
  'evictions',
  (client) => {
    // In small steps: the condition that an eviction adds makes one of these pods exceed the limit for large objects.
    for (let commas = 1_600; commas < 2_000; commas += 16) {
      test(`an eviction charges the disruption budget once, with a pod of ${commas} commas`, async () => {
        const namespace = `evicted-${commas}`
        await create(client(), '/api/v1/namespaces', { metadata: { name: namespace } })
        const base = `/api/v1/namespaces/${namespace}`
        const annotations = { long: ','.repeat(commas) + 'x'.repeat(20_000) }
        await create(client(), `${base}/serviceaccounts`, { metadata: { name: 'pod-user' } })
        const spec = { serviceAccountName: 'pod-user', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] }
        await create(client(), `${base}/pods`, { metadata: { name: 'p', labels: { app: 'a' }, annotations }, spec })
        const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] }
        const patched = await client().patch(`${base}/pods/p/status`, merge, { status })
        assert.equal(patched.status, 200)
        const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
        await create(client(), budgets, { metadata: { name: 'b' }, spec: { minAvailable: 0, selector: { matchLabels: { app: 'a' } } } })
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
