// Scenario: 64 clients create and delete ConfigMaps concurrently in a namespace with a ResourceQuota; checks of the quota.

import assert from 'node:assert/strict'
import type { ApiClient } from '../../../../test/kit/api-client.js'
import { expectStatus, sleep, until, untilStatus } from '../../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../../test/kit/network/json-object.js'
import type { Random } from '../../../../test/kit/seeded-random.js'

const maxConfigMaps = 100
const workers = 64

const mapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
export const quotaIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/resourcequotas/q`

/** The root CA ConfigMap, which every namespace has, is one of the hundred. */
export async function makeQuota(client: ApiClient, namespace: string): Promise<void> {
  await untilStatus(() => client.get(`${mapsIn(namespace)}/cluster-root-ca.crt`), 200)
  const hard = { 'count/configmaps': String(maxConfigMaps), 'count/secrets': '5' }
  expectStatus(await client.post(`/api/v1/namespaces/${namespace}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } }), 201)
  await until(
    () => usedIn(client, namespace),
    (used) => used === 1,
  )
}

async function usedIn(client: ApiClient, namespace: string): Promise<number> {
  const { json } = expectStatus(await client.get(quotaIn(namespace)), 200)
  return Number((json['status'] as { used?: Record<string, string> } | undefined)?.used?.['count/configmaps'] ?? -1)
}

async function countIn(client: ApiClient, namespace: string): Promise<number> {
  return (expectStatus(await client.get(mapsIn(namespace)), 200).json as JsonObject & { items: readonly unknown[] }).items.length
}

interface QuotaScenario {
  readonly client: () => ApiClient
  readonly namespace: string
  readonly random: Random
  readonly untilMs: number
}

/** Writes with 64 clients, and checks that the number of objects never exceeds the quota. Interrupted requests are ignored. */
export async function createAndDelete({ client, namespace, random, untilMs }: QuotaScenario): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    const createdNames: string[] = []
    while (Date.now() < untilMs) {
      try {
        if (createdNames.length > 0 && random.next() < 0.45) {
          const name = createdNames.pop() as string
          const { status } = await client().send({ method: 'DELETE', path: `${mapsIn(namespace)}/${name}` })
          assert.ok([200, 404, 429, 503, 504].includes(status), `DELETE: ${status}`)
        } else {
          const name = `m-${++next}`
          const response = await client().post(mapsIn(namespace), { metadata: { name }, data: { k: 'v' } })
          assert.ok([201, 403, 429, 503, 504].includes(response.status), `POST: ${response.status} ${response.text}`)
          if (response.status === 403) assert.match(response.text, /exceeded quota: q, requested: count\/configmaps=1/)
          if (response.status === 201) createdNames.push(name)
        }
      } catch (thrown) {
        if (thrown instanceof assert.AssertionError) throw thrown
        await sleep(20)
      }
    }
  }
  const checkCount = async (): Promise<void> => {
    while (Date.now() < untilMs) {
      try {
        const count = await countIn(client(), namespace)
        assert.ok(count <= maxConfigMaps, `${count} of ${maxConfigMaps} exist`)
      } catch (thrown) {
        if (thrown instanceof assert.AssertionError && /exist$/.test(thrown.message)) throw thrown
      }
      await sleep(50)
    }
  }
  await Promise.all([checkCount(), ...Array.from({ length: workers }, work)])
}

/** `used` equals the number of objects, and exactly the remaining number can be created. */
export async function fillUp(client: ApiClient, namespace: string): Promise<void> {
  assert.equal(await usedIn(client, namespace), await countIn(client, namespace))
  for (let i = 0; ; i++) {
    const { status } = await client.post(mapsIn(namespace), { metadata: { name: `f-${i}` } })
    if (status === 403) break
    assert.equal(status, 201)
    assert.ok(i < maxConfigMaps)
  }
  assert.equal(await countIn(client, namespace), maxConfigMaps)
  assert.equal(await usedIn(client, namespace), maxConfigMaps)
}
