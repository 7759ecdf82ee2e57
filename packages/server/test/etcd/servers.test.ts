// Several servers on one etcd behave as one cluster.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { configMapOf, configMaps, expectStatus, namesOf, newNamespace, until, untilStatus } from '../../../../test/kit/fixtures.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { Replicas, startReplica } from './start-replicas.js'
import { TcpProxy } from './tcp-proxy.js'

const leaseOfControllers = '/apis/coordination.cluster.io/v1/namespaces/cluster-system/leases/cluster-apiserver-loops'

describe('servers on one etcd', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  let replicas: Replicas
  let network: TcpProxy
  // 62 addresses, one of them for the API service; 40 ports.
  const flags = ['--service-cluster-ip-range=10.9.0.0/26', '--service-node-port-range=30000-30039']
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    // The last server sees changes later than the others.
    network = await TcpProxy.start(cluster.endpoints[0] ?? '')
    replicas = await Replicas.start({ servers: cluster.endpoints, lastReplicaServers: [network.url], prefix: newPrefix(), count: 3, flags })
    network.delay(10)
  })
  after(async () => {
    await replicas?.close()
    await network?.close()
    await cluster?.stop()
  })

  test('the Endpoints of the API service list the running servers', async () => {
    const prefix = newPrefix()
    const start = (address: string) => startReplica({ servers: cluster.endpoints, prefix, flags: [`--advertise-address=${address}`] })
    const [first, second] = await Promise.all([start('192.0.2.1'), start('192.0.2.2')])
    const endpointsText = async (): Promise<string> => {
      const { text } = expectStatus(await first.client.get('/api/v1/namespaces/default/endpoints/cluster'), 200)
      return [...text.matchAll(/192\.0\.2\.\d/g)].join(' ')
    }
    await until(endpointsText, (addresses) => addresses === '192.0.2.1 192.0.2.2', 60_000)
    await second.close()
    await until(endpointsText, (addresses) => addresses === '192.0.2.1')
    await first.close()
  })

  test('servers that start together create bootstrap objects once and elect one leader', async () => {
    for (const { client } of replicas.all) {
      const names = namesOf(expectStatus(await client.get('/api/v1/namespaces'), 200).json)
      assert.deepEqual(names, ['cluster-node-lease', 'cluster-public', 'cluster-system', 'default'])
      await untilStatus(() => client.get('/api/v1/namespaces/default/serviceaccounts/default'), 200)
    }
    const { spec } = expectStatus(await replicas.next.get(leaseOfControllers), 200).json as unknown as {
      spec: { holderIdentity: string; leaseDurationSeconds: number; leaseTransitions: number }
    }
    assert.match(spec.holderIdentity, /_/)
    assert.equal(spec.leaseDurationSeconds, 15)
    assert.equal(spec.leaseTransitions, 0)
  })

  test('addresses and node ports are allocated once', async () => {
    const namespace = await newNamespace(replicas.next)
    const path = `/api/v1/namespaces/${namespace}/services`
    const service = (i: number, type: string) => ({ metadata: { name: `s-${i}` }, spec: { type, ports: [{ port: 80 }] } })
    const allocated = new Map<string, string>()
    const make = async (i: number): Promise<number> => {
      const response = await replicas.client(i).post(path, service(i, i % 2 === 0 ? 'NodePort' : 'ClusterIP'))
      if (response.status !== 201) return response.status
      const { clusterIP, ports } = response.json['spec'] as { clusterIP: string; ports: { nodePort?: number }[] }
      for (const value of [clusterIP, ...ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : [`port ${nodePort}`]))]) {
        assert.equal(allocated.get(value), undefined, `${value} was handed out twice`)
        allocated.set(value, `s-${i}`)
      }
      return response.status
    }
    // More requests than there are addresses.
    const statuses = await Promise.all(Array.from({ length: 64 }, (_, i) => make(i)))
    const refused = statuses.filter((status) => status !== 201)
    assert.deepEqual(refused.length, 3)
    assert.ok(refused.every((status) => status === 422))
    assert.equal([...allocated.keys()].filter((value) => !value.startsWith('port')).length, 61)
    // A released address can be allocated at another server at once.
    for (const [address, name] of [...allocated].filter(([value]) => !value.startsWith('port')).slice(0, 10)) {
      expectStatus(await replicas.next.delete(`${path}/${name}`), 200)
      const again = { metadata: { name: `${name}-again` }, spec: { clusterIP: address, ports: [{ port: 80 }] } }
      expectStatus(await replicas.next.post(path, again), 201)
    }
  })

  test('generated names are unique', async () => {
    const namespace = await newNamespace(replicas.next)
    const responses = await Promise.all(
      Array.from({ length: 90 }, () => replicas.next.post(configMaps(namespace), { metadata: { generateName: 'g-' } })),
    )
    const names = responses.map((response) => expectStatus(response, 201).json.metadata.name)
    assert.equal(new Set(names).size, 90)
    assert.deepEqual(namesOf((await replicas.next.get(configMaps(namespace))).json), names.toSorted())
  })

  test('an unchanged update is compared with the latest stored object', async () => {
    const namespace = await newNamespace(replicas.next)
    const path = configMaps(namespace, 'one')
    expectStatus(await replicas.next.post(configMaps(namespace), configMapOf('one', { data: { n: '0' } })), 201)
    for (let n = 1; n < 30; n += 1) {
      const change = { data: { n: String(n % 2) } }
      expectStatus(await replicas.next.patch(path, 'application/merge-patch+json', change), 200)
      assert.deepEqual((await replicas.next.get(path)).json['data'], { n: String(n % 2) })
    }
  })

  test('concurrent updates of one object are all applied', async () => {
    const namespace = await newNamespace(replicas.next)
    const path = configMaps(namespace, 'one')
    expectStatus(await replicas.next.post(configMaps(namespace), configMapOf('one')), 201)
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const client = replicas.client(i)
        const response = await until(
          () => client.patch(path, 'application/merge-patch+json', { data: { [`k${i}`]: 'x' } }),
          ({ status }) => status !== 409,
        )
        expectStatus(response, 200)
      }),
    )
    assert.equal(Object.keys((await replicas.next.get(path)).json['data'] as object).length, 40)
  })

  test('a deleted namespace removes objects written at any server', async () => {
    const namespace = await newNamespace(replicas.next)
    let isWriting = true
    const writers = replicas.all.map(async ({ client }, index) => {
      for (let i = 0; isWriting; i += 1) {
        const { status } = await client.post(configMaps(namespace), configMapOf(`c-${index}-${i}`))
        assert.ok([201, 403, 404].includes(status), String(status))
      }
    })
    await until(
      () => replicas.next.get(configMaps(namespace)),
      ({ json }) => json.items.length > 30,
    )
    expectStatus(await replicas.next.delete(`/api/v1/namespaces/${namespace}`), 200)
    await until(
      () => replicas.next.get(`/api/v1/namespaces/${namespace}`),
      ({ status }) => status === 404,
      60_000,
    )
    isWriting = false
    await Promise.all(writers)
    assert.deepEqual(namesOf((await replicas.next.get(configMaps(namespace))).json), [])
    // The name can be reused at once, at any server.
    expectStatus(await replicas.next.post('/api/v1/namespaces', { metadata: { name: namespace } }), 201)
    await untilStatus(() => replicas.next.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`), 200)
  })

  test('events expire', async () => {
    const prefix = newPrefix()
    const replica = await startReplica({
      servers: cluster.endpoints,
      prefix,
      flags: ['--event-ttl=2s', '--lease-reuse-duration-seconds=0'],
    })
    try {
      const path = '/api/v1/namespaces/default/events'
      const watch = await replica.client.watch(`${path}?watch=1`)
      const event = {
        metadata: { name: 'e' },
        involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
        type: 'Normal',
        reason: 'x',
      }
      expectStatus(await replica.client.post(path, event), 201)
      const [added, deleted] = await watch.atLeast(2)
      watch.close()
      assert.deepEqual([added?.type, deleted?.type], ['ADDED', 'DELETED'])
      expectStatus(await replica.client.get(`${path}/e`), 404)
    } finally {
      await replica.close()
    }
  })
})
