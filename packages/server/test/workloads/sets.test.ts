// StatefulSets and DaemonSets of a whole server: pods, claims, revisions, status and events with admission.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { makePodsReady, startWithFlags } from './start-with-flags.js'

/** The fields of lists, pods, claims, events and workloads that these tests read. */
interface Workload {
  readonly metadata: {
    readonly name: string
    readonly finalizers?: readonly string[]
    readonly labels?: { readonly [name: string]: string }
  }
  readonly items: readonly Workload[]
  readonly reason: string
  readonly message: string
  readonly spec: {
    readonly serviceAccountName?: string
    readonly volumes?: readonly { readonly name: string }[]
    readonly containers: readonly { readonly image: string }[]
    readonly tolerations?: readonly object[]
  }
  readonly status?: { readonly [name: string]: unknown }
}

const merge = 'application/merge-patch+json'
const template = (image: string) => ({
  metadata: { labels: { app: 'web' } },
  spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image }] },
})

async function start(t: TestContext, controllers: string) {
  const flags = [`--controllers=${controllers}`, '--disable-admission-plugins=TaintNodesByCondition']
  const { client, namespace, core, get, create } = await startWithFlags<Workload>(t, ...flags)
  const apps = `/apis/apps/v1/namespaces/${namespace}`
  const list = async (path: string) => (await get(path)).items
  const makeReady = async () => makePodsReady({ client, core }, await list(`${core}/pods`))
  /** Makes pods ready until the status has these members. */
  const untilStatus = (path: string, wanted: { readonly [name: string]: number }) =>
    until(
      async () => {
        await makeReady()
        return get(path)
      },
      ({ status = {} }) => Object.entries(wanted).every(([name, value]) => (status[name] ?? 0) === value),
    )
  return { client, core, apps, list, create, untilStatus }
}

test('StatefulSet: creates pods and claims in order, rolls out a template, keeps claims', async (t) => {
  const { client, core, apps, list, create, untilStatus } = await start(t, '*,statefulset')
  const path = `${apps}/statefulsets/web`
  const storage = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } }
  const spec = {
    replicas: 2,
    serviceName: 'web',
    selector: { matchLabels: { app: 'web' } },
    template: template('app:1'),
    volumeClaimTemplates: [{ metadata: { name: 'data' }, spec: storage }],
  }
  await create(`${apps}/statefulsets`, { metadata: { name: 'web' }, spec })
  await untilStatus(path, { availableReplicas: 2 })
  const claims = await list(`${core}/persistentvolumeclaims`)
  assert.deepEqual(
    claims.map(({ metadata }) => [metadata.name, metadata.finalizers]),
    [
      ['data-web-0', ['kubernetes.io/pvc-protection']],
      ['data-web-1', ['kubernetes.io/pvc-protection']],
    ],
  )
  expectStatus(await client.patch(path, merge, { spec: { template: template('app:2') } }), 200)
  const updated = await untilStatus(path, { observedGeneration: 2, updatedReplicas: 2, readyReplicas: 2 })
  assert.equal(updated.status?.['currentRevision'], updated.status?.['updateRevision'])
  const pods = await list(`${core}/pods`)
  assert.deepEqual(
    pods.map(({ metadata, spec: of }) => [metadata.name, of.containers[0]?.image, of.volumes?.[0]?.name, of.serviceAccountName]),
    ['web-0', 'web-1'].map((name) => [name, 'app:2', 'data', 'default']),
  )
  assert.equal((await list(`${apps}/controllerrevisions`)).length, 2)
  expectStatus(await client.patch(`${path}/scale`, merge, { spec: { replicas: 0 } }), 200)
  await untilStatus(path, { observedGeneration: 3, replicas: 0 })
  assert.equal((await list(`${core}/persistentvolumeclaims`)).length, 2)
  const messages = (await list(`${core}/events`)).map(({ reason, message }) => `${reason}: ${message}`)
  for (const expected of [
    'SuccessfulCreate: create Claim data-web-0 Pod web-0 in StatefulSet web success',
    'SuccessfulCreate: create Pod web-0 in StatefulSet web successful',
    'SuccessfulDelete: delete Pod web-1 in StatefulSet web successful',
  ])
    assert.ok(messages.includes(expected), messages.join('\n'))
})

test('DaemonSet: one pod per node, rolls out a template, follows nodes', async (t) => {
  const { client, core, apps, list, create, untilStatus } = await start(t, '*,daemonset')
  const path = `${apps}/daemonsets/web`
  for (const name of ['a', 'b']) await create('/api/v1/nodes', { metadata: { name } })
  await create(`${apps}/daemonsets`, {
    metadata: { name: 'web' },
    spec: { selector: { matchLabels: { app: 'web' } }, template: template('app:1') },
  })
  await untilStatus(path, { numberAvailable: 2, numberUnavailable: 0 })
  await create('/api/v1/nodes', { metadata: { name: 'c' } })
  await untilStatus(path, { desiredNumberScheduled: 3, numberAvailable: 3 })
  expectStatus(await client.patch(path, merge, { spec: { template: template('app:2') } }), 200)
  await untilStatus(path, { observedGeneration: 2, updatedNumberScheduled: 3, numberAvailable: 3 })
  const pods = await list(`${core}/pods`)
  assert.deepEqual(
    pods.map(({ spec, metadata }) => [spec.containers[0]?.image, spec.tolerations?.length, metadata.labels?.['pod-template-generation']]),
    Array(3).fill(['app:2', 6, '2']),
  )
  expectStatus(await client.delete('/api/v1/nodes/c'), 200)
  await untilStatus(path, { desiredNumberScheduled: 2, numberAvailable: 2 })
  await until(
    () => list(`${core}/pods`),
    ({ length }) => length === 2,
  )
  const reasons = (await list(`${core}/events`)).map(({ reason }) => reason)
  assert.ok(reasons.includes('SuccessfulCreate') && reasons.includes('SuccessfulDelete'), String(reasons))
})
