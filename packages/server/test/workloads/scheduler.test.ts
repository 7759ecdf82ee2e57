// Scheduler of a whole server: placement, preemption, scheduling gates and volumes of the first consumer.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { startWithFlags } from './start-with-flags.js'

interface Seen {
  readonly metadata: { readonly name: string; readonly deletionTimestamp?: string; readonly annotations?: Readonly<Record<string, string>> }
  readonly spec: { readonly nodeName?: string; readonly volumeName?: string; readonly claimRef?: { readonly name: string } }
  readonly status: {
    readonly phase?: string
    readonly nominatedNodeName?: string
    readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason?: string; readonly message?: string }[]
  }
  readonly items: readonly { readonly reason: string; readonly message: string; readonly involvedObject: { readonly name: string } }[]
}

const merge = 'application/merge-patch+json'

async function start(t: TestContext, flags: readonly string[] = ['--controllers=*,scheduler']) {
  const { server, client, namespace, core, get } = await startWithFlags<Seen>(t, ...flags)
  const post = async (path: string, object: object) => void expectStatus(await client.post(path, object), 201)
  const addNode = async (name: string, cpu: string) => {
    const allocatable = { cpu, memory: '8Gi', pods: '110' }
    await post('/api/v1/nodes', { metadata: { name, labels: { 'kubernetes.io/hostname': name } } })
    expectStatus(await client.patch(`/api/v1/nodes/${name}/status`, merge, { status: { allocatable, capacity: allocatable } }), 200)
    expectStatus(await client.patch(`/api/v1/nodes/${name}`, merge, { spec: { taints: null } }), 200)
  }
  const addPod = (name: string, cpu: string, spec: object = {}) =>
    post(`${core}/pods`, {
      metadata: { name, labels: { app: name } },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'app:1', resources: { requests: { cpu } } }],
        ...spec,
      },
    })
  const untilPod = (name: string, is: (pod: Seen) => boolean) => until(() => get(`${core}/pods/${name}`), is)
  const untilPlaced = async (name: string) => (await untilPod(name, ({ spec }) => spec.nodeName !== undefined)).spec.nodeName
  const scheduled = ({ status }: Seen) => status.conditions?.find(({ type }) => type === 'PodScheduled')
  const untilRefused = async (name: string) => scheduled(await untilPod(name, (pod) => scheduled(pod)?.status === 'False'))?.message
  const events = async (name: string) =>
    (await get(`${core}/events`)).items
      .filter((event) => event.involvedObject.name === name)
      .map(({ reason, message }) => `${reason}: ${message}`)
  return { server, client, namespace, core, get, post, addNode, addPod, untilPod, untilPlaced, untilRefused, scheduled, events }
}

test('pods wait for a node that fits them; pods of other schedulers are left alone', async (t) => {
  const { server, client, namespace, core, get, addNode, addPod, untilPlaced, untilRefused, events } = await start(t)
  await addPod('big', '3')
  await addPod('other', '1', { schedulerName: 'somebody-else' })
  assert.equal(await untilRefused('big'), 'no nodes available to schedule pods')
  await addNode('small', '2')
  await addPod('fits', '2')
  assert.equal(await untilPlaced('fits'), 'small')
  await addPod('late', '1')
  const refusal =
    '0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod..'
  assert.equal(await untilRefused('late'), refusal)
  await server.clock.advance('2s')
  expectStatus(await client.delete(`${core}/pods/fits?gracePeriodSeconds=0`), 200)
  assert.equal(await untilPlaced('late'), 'small')
  await addNode('large', '4')
  await server.clock.advance('2s')
  assert.equal(await untilPlaced('big'), 'large')
  await until(
    () => events('late'),
    (all) => all.includes(`FailedScheduling: ${refusal}`) && all.includes(`Scheduled: Successfully assigned ${namespace}/late to small`),
  )
  assert.deepEqual((await get(`${core}/pods/other`)).status.conditions, undefined)
})

test('a pod of higher priority evicts a victim, waits for it on its nominated node and spares a disruption budget', async (t) => {
  const { server, client, namespace, core, get, post, addNode, addPod, untilPod, untilPlaced, events } = await start(t)
  await post('/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 1000 })
  await addNode('a', '2')
  await addPod('guarded', '2')
  await untilPlaced('guarded')
  await addNode('b', '2')
  await addPod('victim', '2')
  await untilPlaced('victim')
  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`
  await post(budgets, { metadata: { name: 'guard' }, spec: { minAvailable: 1, selector: { matchLabels: { app: 'guarded' } } } })
  await addPod('high', '1', { priorityClassName: 'high' })
  const waiting = await untilPod('high', ({ status }) => status.nominatedNodeName !== undefined)
  assert.equal(waiting.status.nominatedNodeName, 'b')
  const victim = await untilPod('victim', ({ metadata }) => metadata.deletionTimestamp !== undefined)
  assert.ok(victim.status.conditions?.some(({ type, reason }) => type === 'DisruptionTarget' && reason === 'PreemptionByKubeScheduler'))
  await until(
    () => events('victim'),
    (all) => all.includes('Preempted: Preempted by a pod on node b'),
  )
  assert.equal((await get(`${core}/pods/guarded`)).metadata.deletionTimestamp, undefined)
  expectStatus(await client.delete(`${core}/pods/victim?gracePeriodSeconds=0`), 200)
  await server.clock.advance('2s')
  assert.equal(await untilPlaced('high'), 'b')
})

test('a pod that wants to be near others is placed when the first of them is', async (t) => {
  const { server, addNode, addPod, untilPlaced, untilRefused } = await start(t)
  await addNode('a', '4')
  const near = { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: 'base' } } }
  await addPod('near', '1', { affinity: { podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [near] } } })
  assert.match((await untilRefused('near')) ?? '', /1 node\(s\) didn't match pod affinity rules/)
  await server.clock.advance('2s')
  await addPod('base', '1')
  await untilPlaced('base')
  assert.equal(await untilPlaced('near'), 'a')
})

test('a pod with scheduling gates waits until the last one is removed', async (t) => {
  const flags = ['--controllers=*,scheduler', '--feature-gates=PodSchedulingReadiness=true']
  const { client, core, addNode, addPod, untilPlaced, get, scheduled } = await start(t, flags)
  await addNode('a', '2')
  await addPod('gated', '1', { schedulingGates: [{ name: 'x.test/wait' }] })
  await addPod('plain', '1')
  await untilPlaced('plain')
  assert.equal(scheduled(await get(`${core}/pods/gated`))?.reason, 'SchedulingGated')
  expectStatus(await client.patch(`${core}/pods/gated`, merge, { spec: { schedulingGates: null } }), 200)
  assert.equal(await untilPlaced('gated'), 'a')
})

test('a claim that waits for its first consumer is bound on the node of the pod before the pod is', async (t) => {
  const flags = ['--controllers=*,scheduler,persistentvolume-binder']
  const { core, get, post, addNode, addPod, untilPlaced } = await start(t, flags)
  await addNode('a', '2')
  await addNode('b', '2')
  await post('/apis/storage.k8s.io/v1/storageclasses', {
    metadata: { name: 'wait' },
    provisioner: 'kubernetes.io/no-provisioner',
    volumeBindingMode: 'WaitForFirstConsumer',
  })
  const onB = { key: 'kubernetes.io/hostname', operator: 'In', values: ['b'] }
  const spec = { storageClassName: 'wait', accessModes: ['ReadWriteOnce'] }
  await post('/api/v1/persistentvolumes', {
    metadata: { name: 'disk' },
    spec: {
      ...spec,
      capacity: { storage: '1Gi' },
      local: { path: '/mnt/d' },
      nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [onB] }] } },
    },
  })
  await post(`${core}/persistentvolumeclaims`, {
    metadata: { name: 'data' },
    spec: { ...spec, resources: { requests: { storage: '1Gi' } } },
  })
  await until(
    () => get('/api/v1/persistentvolumes/disk'),
    ({ status }) => status.phase === 'Available',
  )
  await addPod('user', '1', { volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] })
  assert.equal(await untilPlaced('user'), 'b')
  const claim = await get(`${core}/persistentvolumeclaims/data`)
  assert.equal(claim.spec.volumeName, 'disk')
})
