// Endpoints, EndpointSlices, mirrored Endpoints and load balancers of a whole server.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { startWithFlags } from './start-with-flags.js'

interface Address {
  readonly ip: string
  readonly targetRef?: { readonly name: string }
}

/** The fields of Endpoints, slices, Services and events that these tests read. */
interface Shown {
  readonly metadata: {
    readonly name: string
    readonly labels?: { readonly [name: string]: string }
    readonly finalizers?: readonly string[]
  }
  readonly items: readonly Shown[]
  readonly reason: string
  readonly subsets?: readonly { readonly addresses?: readonly Address[]; readonly notReadyAddresses?: readonly Address[] }[]
  readonly endpoints?: readonly { readonly addresses: readonly string[]; readonly conditions: object; readonly zone?: string }[]
  readonly ports?: readonly { readonly port: number }[]
  readonly status?: { readonly loadBalancer?: { readonly ingress?: readonly { readonly ip: string }[] } }
}

async function start(t: TestContext, ...flags: readonly string[]) {
  const { server, client, namespace, core, get } = await startWithFlags<Shown>(t, '--controllers=*,workloads', ...flags)
  const slices = async (service: string) =>
    (await get(`/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io/service-name=${service}`))
      .items
  const service = async (name: string, spec: object) =>
    expectStatus(
      await client.post(`${core}/services`, { metadata: { name }, spec: { ports: [{ port: 80, targetPort: 8080 }], ...spec } }),
      201,
    )
  return { client, core, get, slices, service, server }
}

test('Endpoints and slices follow the readiness of pods, and are deleted with their Service', async (t) => {
  const { client, core, get, slices, service } = await start(t)
  const labels = { 'topology.kubernetes.io/zone': 'z' }
  expectStatus(await client.post('/api/v1/nodes', { metadata: { name: 'n1', labels } }), 201)
  await service('web', { selector: { app: 'web' } })
  for (const [name, ip] of [
    ['a', '10.9.0.1'],
    ['b', '10.9.0.2'],
  ]) {
    const spec = { nodeName: 'n1', automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] }
    expectStatus(await client.post(`${core}/pods`, { metadata: { name, labels: { app: 'web' } }, spec }), 201)
    const conditions = [{ type: 'Ready', status: name === 'a' ? 'True' : 'False', lastTransitionTime: '2026-01-01T00:00:00Z' }]
    const status = { phase: 'Running', podIP: ip, podIPs: [{ ip }], conditions }
    expectStatus(await client.patch(`${core}/pods/${name}/status`, 'application/merge-patch+json', { status }), 200)
  }
  const endpoints = await until(
    () => get(`${core}/endpoints/web`),
    ({ subsets }) => subsets?.[0]?.addresses?.length === 1 && subsets[0].notReadyAddresses?.length === 1,
  )
  assert.equal(endpoints.subsets?.[0]?.addresses?.[0]?.targetRef?.name, 'a')
  const [slice] = await until(
    () => slices('web'),
    (found) => found.length === 1 && found[0]?.endpoints?.length === 2,
  )
  assert.deepEqual(
    slice?.endpoints?.map(({ addresses, conditions, zone }) => ({ addresses, conditions, zone })),
    [
      { addresses: ['10.9.0.1'], conditions: { ready: true, serving: true, terminating: false }, zone: 'z' },
      { addresses: ['10.9.0.2'], conditions: { ready: false, serving: false, terminating: false }, zone: 'z' },
    ],
  )
  assert.deepEqual(
    slice?.ports?.map(({ port }) => port),
    [8080],
  )
  expectStatus(await client.delete(`${core}/services/web`), 200)
  await until(
    () => client.get(`${core}/endpoints/web`),
    ({ status }) => status === 404,
  )
  await until(
    () => slices('web'),
    (found) => found.length === 0,
  )
})

test('Endpoints of a Service without selector are mirrored until a label forbids it', async (t) => {
  const { client, core, slices, service } = await start(t)
  await service('ext', {})
  const subsets = [{ addresses: [{ ip: '198.51.100.7' }, { ip: 'fd00::7' }], ports: [{ port: 8080 }] }]
  expectStatus(await client.post(`${core}/endpoints`, { metadata: { name: 'ext', labels: { team: 'x' } }, subsets }), 201)
  const found = await until(
    () => slices('ext'),
    ({ length }) => length === 2,
  )
  assert.deepEqual(found.map(({ metadata, endpoints }) => [metadata.labels?.['team'], endpoints?.[0]?.addresses[0]]).sort(), [
    ['x', '198.51.100.7'],
    ['x', 'fd00::7'],
  ])
  const labels = { 'endpointslice.kubernetes.io/skip-mirror': 'true' }
  expectStatus(await client.patch(`${core}/endpoints/ext`, 'application/merge-patch+json', { metadata: { labels } }), 200)
  await until(
    () => slices('ext'),
    ({ length }) => length === 0,
  )
})

test('a load balancer gets an address of the range, and releases it', async (t) => {
  const { client, core, get, service } = await start(t, '--service-lb-range=203.0.113.0/30')
  const addressOf = ({ status }: Shown): string | undefined => status?.loadBalancer?.ingress?.[0]?.ip
  await service('a', { type: 'LoadBalancer' })
  await service('b', { type: 'LoadBalancer' })
  const read = () => Promise.all(['a', 'b'].map((name) => get(`${core}/services/${name}`)))
  const both = await until(read, (found) => found.every((each) => addressOf(each) !== undefined))
  assert.deepEqual(both.map(addressOf).sort(), ['203.0.113.1', '203.0.113.2'])
  assert.deepEqual(both[0]?.metadata.finalizers, ['service.kubernetes.io/load-balancer-cleanup'])
  await service('c', { type: 'LoadBalancer' })
  await until(
    () => get(`${core}/events`),
    ({ items }) => items.some(({ reason }) => reason === 'SyncLoadBalancerFailed'),
  )
  expectStatus(await client.patch(`${core}/services/a`, 'application/merge-patch+json', { spec: { type: 'ClusterIP' } }), 200)
  const [released] = await until(read, ([a]) => a !== undefined && addressOf(a) === undefined && a.metadata.finalizers === undefined)
  assert.ok(released)
  expectStatus(await client.delete(`${core}/services/b`), 200)
  await until(
    () => client.get(`${core}/services/b`),
    ({ status }) => status === 404,
  )
  const reasons = (await get(`${core}/events`)).items.map(({ reason }) => reason)
  for (const reason of ['EnsuringLoadBalancer', 'EnsuredLoadBalancer', 'DeletingLoadBalancer', 'DeletedLoadBalancer'])
    assert.ok(reasons.includes(reason), reason)
})
