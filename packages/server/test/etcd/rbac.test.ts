// Roles and bindings on several servers: they count at once where they were written, and everywhere as soon as the mirror has them.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { configMaps, expectStatus, newNamespace, until } from '../kit/fixtures.js'
import { as, bindingOf, rbac, roleOf } from '../security/acting.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { Replicas } from './start-replicas.js'

describe('rights on servers that share an etcd', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  let replicas: Replicas
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    replicas = await Replicas.start({ servers: cluster.endpoints, prefix: newPrefix(), count: 2 })
  })
  after(async () => {
    await replicas?.close()
    await cluster?.stop()
  })

  test('a binding counts for the next request where it was written, and soon on the other server; so does its end', async () => {
    const [here, there] = [replicas.client(0), replicas.client(1)]
    const namespace = await newNamespace(here, 'rights')
    const place = `${rbac}/namespaces/${namespace}`
    const may = async (client: typeof here): Promise<number> => (await as(client, 'ann')('GET', configMaps(namespace))).status
    expectStatus(await here.post(`${place}/roles`, roleOf('r', { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] })), 201)
    for (let round = 0; round < 10; round++) {
      const [writer, other] = round % 2 === 0 ? [here, there] : [there, here]
      assert.equal(await may(writer), 403)
      expectStatus(await writer.post(`${place}/rolebindings`, bindingOf('b', 'Role', 'r', 'ann')), 201)
      assert.equal(await may(writer), 200)
      await until(
        () => may(other),
        (status) => status === 200,
      )
      expectStatus(await writer.delete(`${place}/rolebindings/b`), 200)
      assert.equal(await may(writer), 403)
      await until(
        () => may(other),
        (status) => status === 403,
      )
    }
  })
})
