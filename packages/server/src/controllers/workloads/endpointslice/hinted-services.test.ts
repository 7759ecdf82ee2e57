// Events about topology hints, and which changes of nodes change hints.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Event, Service } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { EndpointSlice } from '@cluster-apiserver/api/resources/discovery/v1.schema.js'
import { type WorkloadCluster, workloadCluster } from '../workload.fixture.js'

const hintKey = 'service.kubernetes.io/topology-aware-hints'
const serviceKind = { group: '', plural: 'services', name: 'web' }
const conditions = (status: string) => [{ type: 'Ready', status, lastTransitionTime: '2026-01-01T00:00:00Z' }]

const setReady = (cluster: WorkloadCluster, plural: string, name: string, status = 'True', more: object = {}) =>
  cluster.patch({ group: '', plural, name }, { status: { conditions: conditions(status), ...more } }, 'status')

async function addNode(cluster: WorkloadCluster, name: string, zone: string): Promise<void> {
  await cluster.create('', 'nodes', { metadata: { name, labels: { 'topology.kubernetes.io/zone': zone } } })
  await setReady(cluster, 'nodes', name, 'True', { allocatable: { cpu: '4' } })
}

async function addPod(cluster: WorkloadCluster, name: string, nodeName: string, ip: string): Promise<void> {
  const spec = { nodeName, containers: [{ name: 'main', image: 'app:1' }] }
  await cluster.create('', 'pods', { metadata: { name, labels: { app: 'web' } }, spec })
  await setReady(cluster, 'pods', name, 'True', { podIP: ip, podIPs: [{ ip }], phase: 'Running' })
}

/** Messages of the events so far, without the family; each call begins anew. */
function eventReader(cluster: WorkloadCluster): () => readonly string[] {
  const seen = new Set<string>()
  return () =>
    cluster.list<Event>('', 'events').flatMap(({ metadata, reason, message = '', count }) => {
      const key = `${metadata?.name} ${count}`
      if (seen.has(key)) return []
      seen.add(key)
      assert.ok(message.endsWith(', addressType: IPv4'))
      return `${reason?.replace('TopologyAwareHints', '')}: ${message.replace(', addressType: IPv4', '')}`
    })
}

const hintsOf = (cluster: WorkloadCluster): readonly (string | undefined)[] =>
  cluster
    .list<EndpointSlice>('discovery.k8s.io', 'endpointslices')
    .flatMap(({ endpoints = [] }) => endpoints.map(({ hints }) => hints?.forZones?.[0]?.name))
    .sort()

test('hints are announced, and the reason why there are none', async () => {
  const cluster = await workloadCluster(['endpointslice'])
  const newEvents = eventReader(cluster)
  try {
    const metadata = { name: 'web', annotations: { [hintKey]: 'auto' } }
    const spec = { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'], selector: { app: 'web' }, ports: [{ port: 80 }], ipFamilies: ['IPv4'] }
    await cluster.create('', 'services', { metadata, spec } as Service)
    await cluster.settle()
    const noNodes = 'Insufficient Node information: allocatable CPU or zone not specified on one or more nodes'
    assert.deepEqual(newEvents(), [`Disabled: ${noNodes}`])
    await addNode(cluster, 'a', 'one')
    await addNode(cluster, 'b', 'two')
    await cluster.settle()
    assert.deepEqual(newEvents(), [], 'nodes that come do not queue Services without hints')
    await addPod(cluster, 'p1', 'a', '10.1.0.1')
    await cluster.settle()
    assert.deepEqual(newEvents().at(-1), 'Disabled: Insufficient number of endpoints (1 endpoints, 2 zones)')
    await addPod(cluster, 'p2', 'b', '10.1.0.2')
    await cluster.settle()
    assert.deepEqual(newEvents().at(-1), 'Enabled: Topology Aware Hints has been enabled')
    assert.deepEqual(hintsOf(cluster), ['one', 'two'])
    await addPod(cluster, 'p3', 'b', '10.1.0.3')
    await cluster.settle()
    const tooMany = 'Unable to allocate minimum required endpoints to each zone without exceeding overload threshold (3 endpoints, 2 zones)'
    assert.deepEqual(newEvents().at(-1), `Disabled: ${tooMany}`)
    assert.deepEqual(hintsOf(cluster), [undefined, undefined, undefined])
    await cluster.remove({ group: '', plural: 'pods', name: 'p3' }, { gracePeriodSeconds: 0 })
    await cluster.settle()
    assert.deepEqual(newEvents().at(-1), 'Enabled: Topology Aware Hints has been enabled')
    await setReady(cluster, 'nodes', 'b', 'False')
    await cluster.settle()
    assert.deepEqual(newEvents(), [`Disabled: ${noNodes}`], 'a change of the nodes that overloads a zone')
    assert.deepEqual(hintsOf(cluster), [undefined, undefined])
    await setReady(cluster, 'nodes', 'b')
    await cluster.patch(serviceKind, { metadata: { labels: { changed: 'yes' } } })
    await cluster.settle()
    assert.deepEqual(newEvents(), ['Enabled: Topology Aware Hints has been enabled'])
    await cluster.patch(serviceKind, { metadata: { annotations: { [hintKey]: null } } })
    await cluster.settle()
    assert.deepEqual(newEvents(), ['Disabled: Topology Aware Hints has been disabled'])
  } finally {
    await cluster.close()
  }
})
