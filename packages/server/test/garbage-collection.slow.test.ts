// Garbage collection by a server that is killed repeatedly: afterwards exactly the right objects remain, for every propagation policy.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import type { ApiClient } from '../../../test/kit/api-client.js'
import { sleep, until } from '../../../test/kit/fixtures.js'
import type { JsonObject } from '../../../test/kit/network/json-object.js'
import { seededRandom } from '../../../test/kit/seeded-random.js'
import { newFolder, ServerProcess } from '../../../test/kit/server-process.js'

const path = '/api/v1/namespaces/default/configmaps'
const dependents = 600

const uidOf = (wire: JsonObject): string => (wire.metadata as unknown as { readonly uid: string }).uid

async function make(client: ApiClient, name: string, owners: readonly { readonly name: string; readonly uid: string }[] = []) {
  const ownerReferences = owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', blockOwnerDeletion: true, ...owner }))
  const response = await client.post(path, { metadata: { name, ...(owners.length > 0 && { ownerReferences }) } })
  assert.equal(response.status, 201, response.text)
  return { name, uid: uidOf(response.json) }
}

async function names(client: ApiClient): Promise<readonly string[]> {
  const { json } = await client.get(path)
  return json.items.map(({ metadata }) => metadata.name).filter((name) => !name.endsWith('root-ca.crt'))
}

const policies = ['Background', 'Foreground', 'Orphan'] as const

test('kill -9 during garbage collection, every propagation policy', async (t) => {
  const random = seededRandom('GARBAGE_SEED')
  t.diagnostic(`GARBAGE_SEED=${random.seed}`)
  const dataDir = newFolder()
  let server = await ServerProcess.start({ dataDir })
  const all = Array.from({ length: dependents }, (_, i) => i)
  const cases: { policy: string; prefix: string; owner: { name: string; uid: string }; stays: number }[] = []
  for (const policy of policies) {
    const prefix = policy.toLowerCase()
    const owner = await make(server.client, `${prefix}-owner`)
    const other = await make(server.client, `${prefix}-other`)
    for (let at = 0; at < dependents; at += 50)
      await Promise.all(
        all
          .slice(at, at + 50)
          .map((i) => make(server.client, `${prefix}-${i}`, i % 10 === 0 ? [owner, other] : i % 10 === 1 ? [other] : [owner])),
      )
    cases.push({ policy, prefix, owner, stays: (policy === 'Orphan' ? dependents : dependents / 5) + 1 })
  }
  const responses = await Promise.all(
    cases.map(({ policy, owner }) => server.client.delete(`${path}/${owner.name}?propagationPolicy=${policy}`)),
  )
  for (const response of responses) assert.equal(response.status, 200, response.text)
  for (let kills = 0; kills < 3; kills++) {
    await sleep(250 + random.below(200))
    await server.kill()
    server = await ServerProcess.start({ dataDir })
  }
  const counts = (found: readonly string[]) => cases.map(({ prefix }) => found.filter((name) => name.startsWith(prefix)).length)
  const expected = cases.map(({ stays }) => stays)
  const remaining = await until(
    () => names(server.client),
    (found) => cases.every(({ owner, stays }, i) => !found.includes(owner.name) && (counts(found)[i] ?? 0) <= stays),
    60_000,
  )
  assert.deepEqual(counts(remaining), expected)
  await sleep(1000)
  const { json } = await server.client.get(path)
  assert.deepEqual(counts(await names(server.client)), expected, 'no other object is deleted')
  const refers = json.items.filter(({ metadata }) => cases.some(({ owner }) => JSON.stringify(metadata).includes(owner.uid)))
  assert.deepEqual(
    refers.map(({ metadata }) => metadata.name),
    [],
  )
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
})
