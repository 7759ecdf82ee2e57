// Several servers on one etcd: whichever of them a client talks to, it is one cluster.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { configMapOf, configMaps, expectFailure, expectStatus, namesOf, newNamespace, until } from '../kit/fixtures.js'
import type { Wire } from '../kit/wire.js'
import { EtcdCluster, whyNoEtcd } from './etcd-cluster.js'
import { newPrefix } from './open-replica.js'
import { Replicas, startReplica } from './start-replicas.js'
import { TcpProxy } from './tcp-proxy.js'

const leaseOfLoops = '/apis/coordination.cluster.io/v1/namespaces/cluster-system/leases/cluster-apiserver-loops'
const versionOf = (object: Wire): number => Number(object.metadata.resourceVersion)

describe('servers on one etcd', { skip: whyNoEtcd ?? false }, () => {
  let cluster: EtcdCluster
  let replicas: Replicas
  let network: TcpProxy
  // 62 addresses, of which the API's own service has one; 40 ports.
  const flags = ['--service-cluster-ip-range=10.9.0.0/26', '--service-node-port-range=30000-30039']
  before(async () => {
    cluster = await EtcdCluster.start({ members: 1 })
    // The last of them hears of everything a little later than the others.
    network = await TcpProxy.start(cluster.endpoints[0] ?? '')
    replicas = await Replicas.start({ servers: cluster.endpoints, far: [network.url], prefix: newPrefix(), count: 3, flags })
    network.delay(10)
  })
  after(async () => {
    await replicas?.close()
    await network?.close()
    await cluster?.stop()
  })

  test('the service of the API has the addresses of all that run, and of none that has left', async () => {
    const prefix = newPrefix()
    const start = (address: string) => startReplica({ servers: cluster.endpoints, prefix, flags: [`--advertise-address=${address}`] })
    const [first, second] = await Promise.all([start('192.0.2.1'), start('192.0.2.2')])
    const shown = async (): Promise<string> => {
      const { text } = expectStatus(await first.client.get('/api/v1/namespaces/default/endpoints/cluster'), 200)
      return [...text.matchAll(/192\.0\.2\.\d/g)].join(' ')
    }
    await until(shown, (addresses) => addresses === '192.0.2.1 192.0.2.2', 60_000)
    await second.close()
    await until(shown, (addresses) => addresses === '192.0.2.1')
    await first.close()
  })

  test('started all at once they make the first objects once, and one of them leads', async () => {
    for (const { client } of replicas.all) {
      const names = namesOf(expectStatus(await client.get('/api/v1/namespaces'), 200).json)
      assert.deepEqual(names, ['cluster-node-lease', 'cluster-public', 'cluster-system', 'default'])
      await until(
        () => client.get('/api/v1/namespaces/default/serviceaccounts/default'),
        ({ status }) => status === 200,
      )
    }
    const { spec } = expectStatus(await replicas.next.get(leaseOfLoops), 200).json as unknown as {
      spec: { holderIdentity: string; leaseDurationSeconds: number; leaseTransitions: number }
    }
    assert.match(spec.holderIdentity, /_/)
    assert.equal(spec.leaseDurationSeconds, 15)
    assert.equal(spec.leaseTransitions, 0)
  })

  test('an address and a port are never handed out twice', async () => {
    const namespace = await newNamespace(replicas.next)
    const path = `/api/v1/namespaces/${namespace}/services`
    const service = (i: number, type: string) => ({ metadata: { name: `s-${i}` }, spec: { type, ports: [{ port: 80 }] } })
    const taken = new Map<string, string>()
    const make = async (i: number): Promise<number> => {
      const answer = await replicas.client(i).post(path, service(i, i % 2 === 0 ? 'NodePort' : 'ClusterIP'))
      if (answer.status !== 201) return answer.status
      const { clusterIP, ports } = answer.json['spec'] as { clusterIP: string; ports: { nodePort?: number }[] }
      for (const value of [clusterIP, ...ports.flatMap(({ nodePort }) => (nodePort === undefined ? [] : [`port ${nodePort}`]))]) {
        assert.equal(taken.get(value), undefined, `${value} was handed out twice`)
        taken.set(value, `s-${i}`)
      }
      return answer.status
    }
    // Everything there is, and a few more who get nothing.
    const statuses = await Promise.all(Array.from({ length: 64 }, (_, i) => make(i)))
    const refused = statuses.filter((status) => status !== 201)
    assert.deepEqual(refused.length, 3)
    assert.ok(refused.every((status) => status === 422))
    assert.equal([...taken.keys()].filter((value) => !value.startsWith('port')).length, 61)
    // What was given back at one replica can be asked for at another at once.
    for (const [address, name] of [...taken].filter(([value]) => !value.startsWith('port')).slice(0, 10)) {
      expectStatus(await replicas.next.delete(`${path}/${name}`), 200)
      const again = { metadata: { name: `${name}-again` }, spec: { clusterIP: address, ports: [{ port: 80 }] } }
      expectStatus(await replicas.next.post(path, again), 201)
    }
  })

  test('generated names are given once', async () => {
    const namespace = await newNamespace(replicas.next)
    const answers = await Promise.all(
      Array.from({ length: 90 }, () => replicas.next.post(configMaps(namespace), { metadata: { generateName: 'g-' } })),
    )
    const names = answers.map((answer) => expectStatus(answer, 201).json.metadata.name)
    assert.equal(new Set(names).size, 90)
    assert.deepEqual(namesOf((await replicas.next.get(configMaps(namespace))).json), names.toSorted())
  })

  test('a client that moves with every request never meets the past', async () => {
    for (let round = 0; round < 15; round += 1) {
      const namespace = await newNamespace(replicas.next, 'moving')
      const one = configMaps(namespace, 'one')
      let newest = versionOf(expectStatus(await replicas.next.post(configMaps(namespace), configMapOf('one')), 201).json)
      const isNewer = (object: Wire): Wire => {
        assert.ok(versionOf(object) >= newest, `${versionOf(object)} after ${newest}`)
        newest = versionOf(object)
        return object
      }
      const read = isNewer(expectStatus(await replicas.next.get(one), 200).json)
      isNewer(expectStatus(await replicas.next.put(one, { ...read, data: { a: String(round) } }), 200).json)
      const patched = isNewer(expectStatus(await replicas.next.patch(one, 'application/merge-patch+json', { data: { b: 'x' } }), 200).json)
      const list = isNewer(expectStatus(await replicas.next.get(configMaps(namespace)), 200).json)
      assert.deepEqual(list.items[0]?.['data'], { a: String(round), b: 'x' })
      // A version from one replica means the same at another: as the least that is wanted, and as the beginning of a watch.
      assert.deepEqual(expectStatus(await replicas.next.get(`${one}?resourceVersion=${newest}`), 200).json, patched)
      const watch = await replicas.next.watch(`${configMaps(namespace)}?watch=1&resourceVersion=${newest}`)
      expectStatus(await replicas.next.delete(one), 200)
      const [event] = await watch.atLeast(1)
      assert.equal(event?.type, 'DELETED')
      watch.close()
      expectFailure(await replicas.next.get(one), 404, 'NotFound')
      expectFailure(await replicas.next.delete(one), 404, 'NotFound')
      expectStatus(await replicas.next.post(configMaps(namespace), configMapOf('one')), 201)
    }
  })

  test('a write that changes nothing is compared with what is stored now', async () => {
    const namespace = await newNamespace(replicas.next)
    const one = configMaps(namespace, 'one')
    expectStatus(await replicas.next.post(configMaps(namespace), configMapOf('one', { data: { n: '0' } })), 201)
    for (let n = 1; n < 30; n += 1) {
      const change = { data: { n: String(n % 2) } }
      expectStatus(await replicas.next.patch(one, 'application/merge-patch+json', change), 200)
      assert.deepEqual((await replicas.next.get(one)).json['data'], { n: String(n % 2) })
    }
  })

  test('concurrent changes of one object all count', async () => {
    const namespace = await newNamespace(replicas.next)
    const one = configMaps(namespace, 'one')
    expectStatus(await replicas.next.post(configMaps(namespace), configMapOf('one')), 201)
    await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const client = replicas.client(i)
        const answer = await until(
          () => client.patch(one, 'application/merge-patch+json', { data: { [`k${i}`]: 'x' } }),
          ({ status }) => status !== 409,
        )
        expectStatus(answer, 200)
      }),
    )
    assert.equal(Object.keys((await replicas.next.get(one)).json['data'] as object).length, 40)
  })

  test('a namespace that goes takes everything with it, wherever it is written to', async () => {
    const namespace = await newNamespace(replicas.next)
    let isGoing = true
    const writers = replicas.all.map(async ({ client }, index) => {
      for (let i = 0; isGoing; i += 1) {
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
    isGoing = false
    await Promise.all(writers)
    assert.deepEqual(namesOf((await replicas.next.get(configMaps(namespace))).json), [])
    // It can be made again at once, wherever.
    expectStatus(await replicas.next.post('/api/v1/namespaces', { metadata: { name: namespace } }), 201)
    await until(
      () => replicas.next.get(`/api/v1/namespaces/${namespace}/serviceaccounts/default`),
      ({ status }) => status === 200,
    )
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
