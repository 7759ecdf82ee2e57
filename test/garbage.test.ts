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

for (const policy of ['Background', 'Foreground', 'Orphan'] as const) {
  test(`killed while it collects: ${policy}`, async (t) => {
    const random = seededRandom('GARBAGE_SEED')
    t.diagnostic(`GARBAGE_SEED=${random.seed}`)
    const dataDir = newFolder()
    let server = await ServerProcess.start({ dataDir })
    const owner = await make(server.client, 'owner')
    const other = await make(server.client, 'other')
    const all = Array.from({ length: dependents }, (_, i) => i)
    for (let at = 0; at < dependents; at += 50)
      await Promise.all(
        all.slice(at, at + 50).map((i) => make(server.client, `d${i}`, i % 10 === 0 ? [owner, other] : i % 10 === 1 ? [other] : [owner])),
      )
    const deleted = await server.client.delete(`${path}/owner?propagationPolicy=${policy}`)
    assert.equal(deleted.status, 200, deleted.text)
    for (let kills = 0; kills < 3; kills++) {
      await sleep(250 + random.below(200))
      await server.kill()
      server = await ServerProcess.start({ dataDir })
    }
    const stays = policy === 'Orphan' ? dependents : dependents / 5
    const left = await until(
      () => names(server.client),
      (found) => !found.includes('owner') && found.length <= stays + 1,
      60_000,
    )
    assert.equal(left.length, stays + 1)
    await sleep(1000)
    const { json } = await server.client.get(path)
    assert.equal((await names(server.client)).length, stays + 1, 'nothing more goes')
    const refers = json.items.filter(({ metadata }) => JSON.stringify(metadata).includes(owner.uid) && metadata.name !== 'owner')
    assert.deepEqual(
      refers.map(({ metadata }) => metadata.name),
      [],
    )
    await server.stop()
    rmSync(dataDir, { recursive: true, force: true })
  })
}
