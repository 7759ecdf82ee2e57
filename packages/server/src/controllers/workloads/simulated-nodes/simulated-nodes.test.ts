// State that simulated kubelets keep of deleted pods and nodes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { internalDelete } from '../../framework/internal-call.js'
import { ControlledObjects } from '../kit/controlled-objects.js'
import { namespace, workloadCluster } from '../workload.fixture.js'
import { simulatedNodes } from './simulated-nodes.js'

const node = { metadata: { name: 'node-1', annotations: { 'simulation.kubernetes.io/node': 'true' } } }
const spec = { nodeName: 'node-1', containers: [{ name: 'main', image: 'app' }] }
/** All addresses of a block but one. */
const otherAddresses = 252

test('the address of a pod is free again if its node was deleted before it', async () => {
  const cluster = await workloadCluster([])
  const kubelets = simulatedNodes({ ...cluster.parts, controlled: new ControlledObjects(cluster.parts) }, { templates: [], rules: [] })
  const settle = async (): Promise<void> => {
    do await cluster.settle()
    while (kubelets.isIdle === false)
  }
  const addressOf = (name: string) => cluster.list<Pod>('', 'pods').find(({ metadata }) => metadata?.name === name)?.status?.podIP
  const run = async (...names: readonly string[]): Promise<void> => {
    for (const name of names) await cluster.create('', 'pods', { metadata: { name }, spec })
    await settle()
  }
  await cluster.create('', 'nodes', node)
  await settle()
  await run('first')
  const first = addressOf('first')
  assert.match(first ?? '', /^10\./)
  await cluster.remove({ group: '', plural: 'nodes', name: 'node-1' })
  await settle()
  const target = { resource: cluster.find('', 'pods'), namespace, name: 'first' }
  await internalDelete(cluster.parts.engine, { ...target, options: { gracePeriodSeconds: 0 } })
  assert.deepEqual(cluster.list('', 'pods'), [])
  await settle()
  await cluster.create('', 'nodes', node)
  await run(...Array.from({ length: otherAddresses }, (_, i) => `pod-${i}`))
  await run('last')
  assert.equal(addressOf('last'), first)
  await kubelets.close()
  await cluster.close()
})
