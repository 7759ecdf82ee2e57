// Admission plugins in a whole server: enabled by flags, configured by a file, in order.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startEmbedded } from '../../../../test/kit/embedded.js'
import { expectStatus, untilStatus } from '../../../../test/kit/fixtures.js'
import { skipWithWorkers } from '../../../../test/kit/server-process.js'

const container = { name: 'c', image: 'i' }
const podOf = (name: string, spec: object = {}) => ({ metadata: { name }, spec: { containers: [container], ...spec } })

test('enabled plugins run with their configuration', { skip: skipWithWorkers('each has a share of the event rate') }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'plugins-'))
  const file = join(folder, 'admission.json')
  const configuration = { podNodeSelectorPluginConfig: { clusterDefaultNodeSelector: 'pool=general' } }
  const rateLimits = {
    apiVersion: 'eventratelimit.admission.cluster.io/v1alpha1',
    kind: 'Configuration',
    limits: [{ type: 'User', qps: 1, burst: 1 }],
  }
  writeFileSync(join(folder, 'events.json'), JSON.stringify(rateLimits))
  const plugins = [
    { name: 'PodNodeSelector', configuration },
    { name: 'EventRateLimit', path: 'events.json' },
  ]
  writeFileSync(file, JSON.stringify({ apiVersion: 'apiserver.config.cluster.io/v1', kind: 'AdmissionConfiguration', plugins }))
  const enabled = 'PodNodeSelector,EventRateLimit,NamespaceAutoProvision,AlwaysPullImages,DenyServiceExternalIPs'
  const { client, close } = await startEmbedded('memory', [
    `--enable-admission-plugins=${enabled}`,
    `--admission-control-config-file=${file}`,
  ])
  const created = expectStatus(await client.post('/api/v1/namespaces/made/configmaps', { metadata: { name: 'm' } }), 201)
  assert.equal(created.json.metadata.namespace, 'made')
  expectStatus(await client.get('/api/v1/namespaces/made'), 200)
  await untilStatus(() => client.get('/api/v1/namespaces/made/serviceaccounts/default'), 200)
  const pod = expectStatus(await client.post('/api/v1/namespaces/made/pods', podOf('p')), 201).json['spec'] as {
    nodeSelector: object
    containers: readonly { imagePullPolicy: string }[]
  }
  assert.deepEqual(pod.nodeSelector, { pool: 'general' })
  assert.equal(pod.containers[0]?.imagePullPolicy, 'Always')
  const event = (name: string) => ({ metadata: { name, namespace: 'made' }, involvedObject: { namespace: 'made' } })
  expectStatus(await client.post('/api/v1/namespaces/made/events', event('e1')), 201)
  expectStatus(await client.post('/api/v1/namespaces/made/events', event('e2')), 429)
  const service = { metadata: { name: 's' }, spec: { externalIPs: ['192.0.2.1'], ports: [{ port: 80 }] } }
  expectStatus(await client.post('/api/v1/namespaces/made/services', service), 403)
  const metrics = expectStatus(await client.get('/metrics'), 200).text
  assert.match(
    metrics,
    /apiserver_admission_controller_admission_duration_seconds_count\{name="DenyServiceExternalIPs",operation="CREATE",rejected="true",type="validate"\} 1/,
  )
  await close()
  rmSync(folder, { recursive: true })
})
