// Garbage is collected by a server that is killed again and again while it does so: in the end all is gone that should be, and nothing else.

import assert from 'node:assert/strict'
import { rmSync } from 'node:fs'
import { test } from 'node:test'
import type { ApiClient } from './kit/api-client.js'
import { sleep, until } from './kit/fixtures.js'
import { seededRandom } from './kit/seeded-random.js'
import { newFolder, ServerProcess } from './kit/server-process.js'
import type { Wire } from './kit/wire.js'

const path = '/api/v1/namespaces/default/configmaps'
const dependents = 600

const uidOf = (wire: Wire): string => (wire.metadata as unknown as { readonly uid: string }).uid

async function make(client: ApiClient, name: string, owners: readonly { readonly name: string; readonly uid: string }[] = []) {
  const ownerReferences = owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', blockOwnerDeletion: true, ...owner }))
  const answer = await client.post(path, { metadata: { name, ...(owners.length > 0 && { ownerReferences }) } })
  assert.equal(answer.status, 201, answer.text)
  return { name, uid: uidOf(answer.json) }
}

async function names(client: ApiClient): Promise<readonly string[]> {
  const { json } = await client.get(path)
  return json.items.map(({ metadata }) => metadata.name).filter((name) => !name.endsWith('root-ca.crt'))
}

const policies = ['Background', 'Foreground', 'Orphan'] as const

// All at once: to start a server again takes longer than what one of them has to do meanwhile.
test('killed while it collects, by every policy', async (t) => {
  const random = seededRandom('GARBAGE_SEED')
  t.diagnostic(`GARBAGE_SEED=${random.seed}`)
  const dataDir = newFolder()
  let server = await ServerProcess.start({ dataDir })
  const all = Array.from({ length: dependents }, (_, i) => i)
  const plays: { policy: string; prefix: string; owner: { name: string; uid: string }; stays: number }[] = []
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
    plays.push({ policy, prefix, owner, stays: (policy === 'Orphan' ? dependents : dependents / 5) + 1 })
  }
  const answers = await Promise.all(
    plays.map(({ policy, owner }) => server.client.delete(`${path}/${owner.name}?propagationPolicy=${policy}`)),
  )
  for (const answer of answers) assert.equal(answer.status, 200, answer.text)
  for (let kills = 0; kills < 3; kills++) {
    await sleep(250 + random.below(200))
    await server.kill()
    server = await ServerProcess.start({ dataDir })
  }
  const counts = (found: readonly string[]) => plays.map(({ prefix }) => found.filter((name) => name.startsWith(prefix)).length)
  const expected = plays.map(({ stays }) => stays)
  const left = await until(
    () => names(server.client),
    (found) => plays.every(({ owner, stays }, i) => !found.includes(owner.name) && (counts(found)[i] ?? 0) <= stays),
    60_000,
  )
  assert.deepEqual(counts(left), expected)
  await sleep(1000)
  const { json } = await server.client.get(path)
  assert.deepEqual(counts(await names(server.client)), expected, 'nothing more goes')
  const refers = json.items.filter(({ metadata }) => plays.some(({ owner }) => JSON.stringify(metadata).includes(owner.uid)))
  assert.deepEqual(
    refers.map(({ metadata }) => metadata.name),
    [],
  )
  await server.stop()
  rmSync(dataDir, { recursive: true, force: true })
})
