// Random histories of a Service and its pods with restarts of the controllers: Endpoints and EndpointSlices list exactly the addresses
// that the Service has by its rules, each once.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Endpoints, Event, Pod, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { isFinishedPod, isReadyPod } from '../kit/pod-state.js'
import { isTerminating } from '../kit/workload-parts.js'
import { randomFrom, type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const histories = 5
const steps = 30
const discovery = 'discovery.k8s.io'
const web = { group: '', plural: 'services', name: 'web' }
const podsIn = (cluster: WorkloadCluster): readonly Pod[] => cluster.list<Pod>('', 'pods')
const serviceIn = (cluster: WorkloadCluster): Service => cluster.list<Service>('', 'services')[0] as Service

/** `<ip>:<port> <state>` of every endpoint; `includesTerminating`: slices list terminating pods, too. */
function expected(cluster: WorkloadCluster, includesTerminating: boolean): readonly string[] {
  const { spec } = serviceIn(cluster)
  const isPublished = spec?.publishNotReadyAddresses === true
  return podsIn(cluster)
    .filter((pod) => pod.metadata?.labels?.['app'] === spec?.selector?.['app'] && !isFinishedPod(pod) && pod.status?.podIP !== undefined)
    .filter((pod) => includesTerminating || isPublished || !isTerminating(pod))
    .flatMap((pod) => {
      const isReady = isPublished || (isReadyPod(pod) && !(includesTerminating && isTerminating(pod)))
      const named = pod.spec?.containers?.[0]?.ports?.[0]?.containerPort
      const port = spec?.ports?.[0]?.targetPort === 'http' ? named : 8080
      return port === undefined ? [] : `${pod.status?.podIP}:${port} ${isReady}`
    })
    .sort()
}

function inEndpoints(cluster: WorkloadCluster): readonly string[] {
  const [endpoints] = cluster.list<Endpoints>('', 'endpoints')
  return (endpoints?.subsets ?? [])
    .flatMap(({ addresses = [], notReadyAddresses = [], ports = [] }) =>
      ports.flatMap(({ port }) => [
        ...addresses.map(({ ip }) => `${ip}:${port} true`),
        ...notReadyAddresses.map(({ ip }) => `${ip}:${port} false`),
      ]),
    )
    .sort()
}

const inSlices = (cluster: WorkloadCluster): readonly string[] =>
  cluster
    .list<EndpointSlice>(discovery, 'endpointslices')
    .flatMap(({ endpoints = [], ports = [] }) =>
      ports.flatMap(({ port }) => endpoints.map(({ addresses, conditions }) => `${addresses?.[0]}:${port} ${conditions?.ready}`)),
    )
    .sort()

async function playHistory(seed: number): Promise<void> {
  const random = randomFrom(seed)
  const cluster = await workloadCluster(['endpoint', 'endpointslice'])
  const log = [`seed ${seed}`]
  await cluster.create('', 'nodes', { metadata: { name: 'node' } })
  await cluster.create('', 'services', {
    metadata: { name: 'web' },
    spec: {
      clusterIP: '10.0.0.1',
      clusterIPs: ['10.0.0.1'],
      ipFamilies: ['IPv4'],
      selector: { app: 'a' },
      ports: [{ port: 80, targetPort: 8080 }],
    },
  })
  let pods = 0
  const pick = (): Pod | undefined => podsIn(cluster)[random(podsIn(cluster).length)]
  const setStatus = async (status: object): Promise<void> => {
    const pod = pick()
    const time = new Date(cluster.parts.engine.clock.now()).toISOString()
    const conditions = [{ type: 'Ready', status: random(3) === 0 ? 'False' : 'True', lastTransitionTime: time }]
    const address = { podIP: pod?.status?.podIP ?? `10.1.0.${++pods}` }
    const target = { group: '', plural: 'pods', name: pod?.metadata?.name ?? '' }
    if (pod !== undefined) await cluster.patch(target, { status: { ...address, conditions, ...status } }, 'status')
  }
  const actions: readonly (readonly [string, () => Promise<void>])[] = [
    [
      'pod',
      () => {
        const ports = random(2) === 0 ? {} : { ports: [{ name: 'http', containerPort: 9000 + random(2) }] }
        const metadata = { name: `p${++pods}`, labels: { app: ['a', 'a', 'b'][random(3)] }, finalizers: ['example.com/hold'] }
        return cluster.create('', 'pods', { metadata, spec: { nodeName: 'node', containers: [{ name: 'main', image: 'app', ...ports }] } })
      },
    ],
    ['status', () => setStatus({ phase: 'Running' })],
    ['status', () => setStatus({ phase: 'Running' })],
    ['finish', () => setStatus({ phase: 'Succeeded' })],
    [
      'delete',
      async () => {
        const pod = pick()
        const target = { group: '', plural: 'pods', name: pod?.metadata?.name ?? '' }
        if (pod === undefined) return
        if (isTerminating(pod)) await cluster.patch(target, { metadata: { finalizers: null } })
        else await cluster.remove(target)
      },
    ],
    ['selector', () => cluster.patch(web, { spec: { selector: { app: ['a', 'b'][random(2)] } } })],
    ['publish', () => cluster.patch(web, { spec: { publishNotReadyAddresses: random(2) === 0 } })],
    ['ports', () => cluster.patch(web, { spec: { ports: [{ port: 80, targetPort: [8080, 'http'][random(2)] }] } })],
    ['restart', () => cluster.restart()],
    [
      'relabel',
      async () => cluster.patch({ group: '', plural: 'pods', name: pick()?.metadata?.name ?? '' }, { metadata: { labels: { app: 'a' } } }),
    ],
  ]
  for (let step = 0; step < steps; step++) {
    const [name, act] = actions[podsIn(cluster).length === 0 ? 0 : random(actions.length)] as (typeof actions)[number]
    log.push(name)
    await act()
    // Some changes come while the controllers still handle the one before.
    if (random(3) === 0) continue
    await cluster.settle(2000)
    assert.deepEqual(inEndpoints(cluster), expected(cluster, false), log.join())
    assert.deepEqual(inSlices(cluster), expected(cluster, true), log.join())
  }
  assert.deepEqual(
    cluster.list<Event>('', 'events').map(({ reason }) => reason),
    [],
    log.join(),
  )
  await cluster.close()
}

test('Services of random histories list every address once', async () => {
  for (let seed = 1; seed <= histories; seed++) await playHistory(seed)
})
