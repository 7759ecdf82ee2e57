// Expansion of claims and claims of generic ephemeral volumes, on a whole server.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { startWithFlags } from './start-with-flags.js'

interface Stored {
  readonly metadata: {
    readonly name: string
    readonly uid: string
    readonly labels?: object
    readonly ownerReferences?: readonly { readonly uid: string; readonly controller?: boolean }[]
  }
  readonly reason: string
  readonly message: string
  readonly items: readonly Stored[]
  readonly spec: { readonly volumeName?: string; readonly capacity?: { readonly storage: string } }
  readonly status: { readonly phase?: string; readonly capacity?: { readonly storage: string } }
}

async function start(t: TestContext, controllers: string) {
  const { client, core, get, create } = await startWithFlags<Stored>(t, `--controllers=*,${controllers}`)
  return { client, core, claims: `${core}/persistentvolumeclaims`, get, create }
}

const claimSpec = (storage: string) => ({ accessModes: ['ReadWriteOnce'], resources: { requests: { storage } } })

test('a claim of an expandable class grows with its volume', async (t) => {
  const { client, claims, get, create } = await start(t, 'persistentvolume-binder,persistentvolume-expander')
  await until(
    () => get('/apis/storage.k8s.io/v1/storageclasses'),
    ({ items }) => items.length === 1,
  )
  await create(claims, { metadata: { name: 'data' }, spec: claimSpec('1Gi') })
  const claim = () => get(`${claims}/data`)
  const { spec } = await until(claim, ({ status }) => status.phase === 'Bound')
  const resources = { requests: { storage: '3Gi' } }
  expectStatus(await client.patch(`${claims}/data`, 'application/merge-patch+json', { spec: { resources } }), 200)
  await until(claim, ({ status }) => status.capacity?.storage === '3Gi')
  assert.equal((await get(`/api/v1/persistentvolumes/${spec.volumeName}`)).spec.capacity?.storage, '3Gi')
})

test('a pod owns the claim of its generic ephemeral volume; a claim of another owner is reported', async (t) => {
  const { client, core, claims, get, create } = await start(t, 'ephemeral-volume')
  const volumeClaimTemplate = { metadata: { labels: { kind: 'scratch' } }, spec: claimSpec('1Gi') }
  const addPod = (name: string) =>
    create(`${core}/pods`, {
      metadata: { name },
      spec: {
        automountServiceAccountToken: false,
        containers: [{ name: 'main', image: 'app:1' }],
        volumes: [{ name: 'scratch', ephemeral: { volumeClaimTemplate } }],
      },
    })
  const pod = await addPod('work')
  const made = await until(
    () => get(`${claims}/work-scratch`),
    ({ metadata }) => metadata.uid !== undefined,
  )
  assert.deepEqual(made.metadata.labels, { kind: 'scratch' })
  assert.deepEqual(
    made.metadata.ownerReferences?.map(({ uid, controller }) => [uid, controller]),
    [[pod.metadata.uid, true]],
  )
  expectStatus(await client.delete(`${core}/pods/work`, { gracePeriodSeconds: 0 }), 200)
  await until(
    () => get(claims),
    ({ items }) => items.length === 0,
  )
  await create(claims, { metadata: { name: 'other-scratch' }, spec: claimSpec('1Gi') })
  await addPod('other')
  const { items } = await until(
    () => get(`${core}/events`),
    (events) => events.items.some(({ reason }) => reason === 'FailedBinding'),
  )
  const { message } = items.find(({ reason }) => reason === 'FailedBinding') as Stored
  assert.match(message, /^ephemeral volume scratch: PVC .*other-scratch was not created for pod .*other \(pod is not owner\)$/)
})
