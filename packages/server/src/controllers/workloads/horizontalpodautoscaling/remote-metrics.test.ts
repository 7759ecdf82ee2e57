// Tests of metrics of extension API servers: paths, values, errors, fallback.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { identityOf } from '@cluster-apiserver/api/api/identity.js'
import type { WorkloadParts } from '../kit/workload-parts.js'
import { metricSources } from './remote-metrics.js'

const identity = identityOf('kubernetes')

function sourcesOf(groups: readonly string[], respond: (path: string) => { readonly status: number; readonly body: object }) {
  const paths: string[] = []
  const remotes = groups.map((group) => ({ group, version: 'v1beta1', remote: {} }))
  const request = async (_: unknown, { path }: { readonly path: string }) => {
    paths.push(path)
    const { status, body } = respond(path)
    return { status, body: Buffer.from(JSON.stringify(body)) }
  }
  const parts = {
    engine: { identity },
    catalogs: { current: { groups: () => new Map() } },
    extensions: { services: { current: { remotes } }, extensionClient: { request } },
  }
  return { paths, ...metricSources(parts as unknown as WorkloadParts) }
}

const query = { namespace: 'n', metric: 'm', metricSelector: 'q=1' }

test('usage of pods', async () => {
  const item = {
    metadata: { name: 'p' },
    timestamp: '1970-01-01T00:00:01Z',
    window: '30s',
    containers: [{ name: 'c', usage: { cpu: '5m' } }],
  }
  const { podMetrics, paths } = sourcesOf([identity.group({ stem: 'metrics' })], () => ({ status: 200, body: { items: [item] } }))
  assert.deepEqual(await podMetrics.usageOf('n', 'a=b'), [
    { name: 'p', atMs: 1000, windowMs: 30_000, containers: [{ name: 'c', usage: { cpu: '5m' } }] },
  ])
  assert.deepEqual(paths, [`/apis/${identity.group({ stem: 'metrics' })}/v1beta1/namespaces/n/pods?labelSelector=a%3Db`])
})

test('custom and external metrics', async () => {
  const [custom, external] = ['custom.metrics', 'external.metrics'].map((stem) => identity.group({ stem }))
  const body = { items: [{ describedObject: { name: 'p' }, value: '1500m' }] }
  const { customMetrics, paths } = sourcesOf([custom ?? '', external ?? ''], () => ({ status: 200, body }))
  assert.deepEqual([...(await customMetrics.podValues(query, 'a=b'))], [['p', 1500]])
  assert.equal(await customMetrics.objectValue(query, { apiVersion: 'v1', kind: 'Namespace', name: 'n' }), 1500)
  assert.deepEqual(await customMetrics.externalValues(query), [1500])
  assert.deepEqual(paths, [
    `/apis/${custom}/v1beta1/namespaces/n/pods/*/m?labelSelector=a%3Db&metricLabelSelector=q%3D1`,
    `/apis/${custom}/v1beta1/namespaces/n/metrics/m?metricLabelSelector=q%3D1`,
    `/apis/${external}/v1beta1/namespaces/n/m?labelSelector=q%3D1`,
  ])
})

test('an error shows the message of the server; a group that is not served has no metrics', async () => {
  const { podMetrics, customMetrics } = sourcesOf([identity.group({ stem: 'metrics' })], () => ({
    status: 503,
    body: { message: 'not yet' },
  }))
  await assert.rejects(podMetrics.usageOf('n', ''), /^Error: not yet$/)
  await assert.rejects(customMetrics.externalValues(query), /could not find the requested resource \(get m\.external\.metrics/)
})
