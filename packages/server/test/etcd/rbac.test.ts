// RBAC on two servers with one etcd: bindings apply at once on the server that wrote them, and soon on the other one.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { configMaps, expectStatus, newNamespace, until } from '../../../../test/kit/fixtures.js'
import { as, bindingOf, rbac, roleOf } from '../security/users.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { Replicas } from './start-replicas.js'

describe('RBAC on servers that share an etcd', { skip: whyNoEtcd ?? false }, () => {
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

  test('a binding and its deletion apply to the next request on this server, and soon on the other', async () => {
    const [here, there] = [replicas.client(0), replicas.client(1)]
    const namespace = await newNamespace(here, 'rights')
    const rbacPath = `${rbac}/namespaces/${namespace}`
    const statusFor = async (client: typeof here): Promise<number> => (await as(client, 'ann')('GET', configMaps(namespace))).status
    expectStatus(await here.post(`${rbacPath}/roles`, roleOf('r', { apiGroups: [''], resources: ['configmaps'], verbs: ['list'] })), 201)
    for (let round = 0; round < 10; round++) {
      const [writer, other] = round % 2 === 0 ? [here, there] : [there, here]
      assert.equal(await statusFor(writer), 403)
      expectStatus(await writer.post(`${rbacPath}/rolebindings`, bindingOf('b', 'Role', 'r', 'ann')), 201)
      assert.equal(await statusFor(writer), 200)
      await until(
        () => statusFor(other),
        (status) => status === 200,
      )
      expectStatus(await writer.delete(`${rbacPath}/rolebindings/b`), 200)
      assert.equal(await statusFor(writer), 403)
      await until(
        () => statusFor(other),
        (status) => status === 403,
      )
    }
  })
})
