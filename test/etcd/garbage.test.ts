// Three servers on one etcd, of which the one that collects garbage is killed while it does so: another one goes on, and nothing else goes.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configMaps, newNamespace, sleep, until } from '../kit/fixtures.js'
import { ServerProcess } from '../kit/server-process.js'
import type { Wire } from '../kit/wire.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'

const dependents = 300

const isLeading = async ({ client }: ServerProcess): Promise<boolean> =>
  /^leader_election_master_status\{[^}]*\} 1$/m.test((await client.get('/metrics')).text)

const uidOf = (wire: Wire): string => (wire.metadata as unknown as { readonly uid: string }).uid

describe('garbage on three servers', { skip: whyNoEtcd ?? false }, () => {
  test('the leader is killed while it collects', { timeout: 300_000 }, async (context) => {
    const cluster = await EtcdCluster.start({ members: 1 })
    const flags = [`--etcd-servers=${cluster.endpoints.join(',')}`, `--etcd-prefix=${newPrefix()}`]
    const servers = [await ServerProcess.start({ flags }), await ServerProcess.start({ flags }), await ServerProcess.start({ flags })]
    context.after(async () => {
      for (const server of servers) await server.stop()
      await cluster.stop()
    })
    const leader = await until(
      async () => {
        for (const server of servers) if (await isLeading(server)) return server
        return undefined
      },
      (found) => found !== undefined,
    )
    const others = servers.filter((server) => server !== leader)
    const [first] = others
    assert.ok(leader !== undefined && first !== undefined)
    const path = configMaps(await newNamespace(first.client))
    const make = async (server: ServerProcess, name: string, owners: readonly { readonly name: string; readonly uid: string }[]) => {
      const ownerReferences = owners.map((owner) => ({ apiVersion: 'v1', kind: 'ConfigMap', ...owner }))
      const answer = await server.client.post(path, { metadata: { name, ...(owners.length > 0 && { ownerReferences }) } })
      assert.equal(answer.status, 201, answer.text)
      return { name, uid: uidOf(answer.json) }
    }
    const owner = await make(first, 'owner', [])
    const other = await make(first, 'other', [])
    for (let i = 0; i < dependents; i += 30)
      await Promise.all(
        Array.from({ length: 30 }, (_, k) =>
          make(others[k % 2] ?? first, `d${i + k}`, (i + k) % 10 === 0 ? [owner, other] : (i + k) % 10 === 1 ? [other] : [owner]),
        ),
      )
    const deleted = await first.client.delete(`${path}/owner`)
    assert.equal(deleted.status, 200, deleted.text)
    await sleep(320)
    await leader.kill()
    const stays = dependents / 5 + 1
    const names = async (): Promise<readonly string[]> =>
      (await first.client.get(path)).json.items.map(({ metadata }) => metadata.name).filter((name) => !name.endsWith('root-ca.crt'))
    const left = await until(names, (found) => found.length <= stays, 60_000)
    context.diagnostic('all that was to go is gone')
    assert.equal(left.length, stays)
    await sleep(1000)
    assert.equal((await names()).length, stays, 'nothing more goes')
  })
})
