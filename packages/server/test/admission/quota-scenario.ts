// Sixty-four clients that make and delete at the same time in a namespace with a quota, and what must be true of it.

import assert from 'node:assert/strict'
import type { ApiClient } from '../kit/api-client.js'
import { expectStatus, sleep, until } from '../kit/fixtures.js'
import type { Random } from '../kit/seeded-random.js'
import type { Wire } from '../kit/wire.js'

export const limit = 100
const workers = 64

export const mapsIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/configmaps`
export const quotaIn = (namespace: string): string => `/api/v1/namespaces/${namespace}/resourcequotas/q`

/** Everything may be there but the map with certificates, which every namespace has: it is one of the hundred. */
export async function makeQuota(client: ApiClient, namespace: string): Promise<void> {
  await until(
    () => client.get(`${mapsIn(namespace)}/cluster-root-ca.crt`),
    ({ status }) => status === 200,
  )
  const hard = { 'count/configmaps': String(limit), 'count/secrets': '5' }
  expectStatus(await client.post(`/api/v1/namespaces/${namespace}/resourcequotas`, { metadata: { name: 'q' }, spec: { hard } }), 201)
  await until(
    () => usedIn(client, namespace),
    (used) => used === 1,
  )
}

export async function usedIn(client: ApiClient, namespace: string): Promise<number> {
  const { json } = expectStatus(await client.get(quotaIn(namespace)), 200)
  return Number((json['status'] as { used?: Record<string, string> } | undefined)?.used?.['count/configmaps'] ?? -1)
}

export async function countIn(client: ApiClient, namespace: string): Promise<number> {
  return (expectStatus(await client.get(mapsIn(namespace)), 200).json as Wire & { items: readonly unknown[] }).items.length
}

export interface Play {
  /** Any of the servers. */
  readonly client: () => ApiClient
  readonly namespace: string
  readonly random: Random
  readonly untilMs: number
}

/** What is told of the quota while they are at it is never above. Requests that break off are tried again later. */
export async function makeAndDelete({ client, namespace, random, untilMs }: Play): Promise<void> {
  let next = 0
  const work = async (): Promise<void> => {
    const own: string[] = []
    while (Date.now() < untilMs) {
      try {
        if (own.length > 0 && random.next() < 0.45) {
          const name = own.pop() as string
          const { status } = await client().send({ method: 'DELETE', path: `${mapsIn(namespace)}/${name}` })
          assert.ok([200, 404, 429, 503, 504].includes(status), `DELETE: ${status}`)
        } else {
          const name = `m-${++next}`
          const answer = await client().post(mapsIn(namespace), { metadata: { name }, data: { k: 'v' } })
          assert.ok([201, 403, 429, 503, 504].includes(answer.status), `POST: ${answer.status} ${answer.text}`)
          if (answer.status === 403) assert.match(answer.text, /exceeded quota: q, requested: count\/configmaps=1/)
          if (answer.status === 201) own.push(name)
        }
      } catch (thrown) {
        if (thrown instanceof assert.AssertionError) throw thrown
        await sleep(20)
      }
    }
  }
  const watch = async (): Promise<void> => {
    while (Date.now() < untilMs) {
      try {
        const count = await countIn(client(), namespace)
        assert.ok(count <= limit, `${count} of ${limit} are there`)
      } catch (thrown) {
        if (thrown instanceof assert.AssertionError && /are there/.test(thrown.message)) throw thrown
      }
      await sleep(50)
    }
  }
  await Promise.all([watch(), ...Array.from({ length: workers }, work)])
}

/** Nothing has leaked: what is counted is what is there, and exactly as many can come as there is room for. */
export async function fillUp(client: ApiClient, namespace: string): Promise<void> {
  assert.equal(await usedIn(client, namespace), await countIn(client, namespace))
  for (let i = 0; ; i++) {
    const { status } = await client.post(mapsIn(namespace), { metadata: { name: `f-${i}` } })
    if (status === 403) break
    assert.equal(status, 201)
    assert.ok(i < limit)
  }
  assert.equal(await countIn(client, namespace), limit)
  assert.equal(await usedIn(client, namespace), limit)
}
