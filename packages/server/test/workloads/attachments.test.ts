// Pod ranges of nodes, VolumeAttachments and ResourceClaims of a whole server.

import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { expectStatus, until } from '../../../../test/kit/fixtures.js'
import { startWithFlags } from './start-with-flags.js'

interface Stored {
  readonly metadata: { readonly name: string; readonly uid: string; readonly ownerReferences?: readonly { readonly uid: string }[] }
  readonly items: readonly Stored[]
  readonly reason: string
  readonly spec: { readonly podCIDR?: string; readonly podCIDRs?: readonly string[]; readonly nodeName?: string; readonly source?: object }
  readonly status?: {
    readonly phase?: string
    readonly volumesAttached?: readonly { readonly name: string }[]
    readonly reservedFor?: readonly { readonly name: string }[]
  }
}

const merge = 'application/merge-patch+json'

async function start(t: TestContext, ...flags: readonly string[]) {
  const { client, core, get, create } = await startWithFlags<Stored>(t, ...flags)
  const addPod = (name: string, spec: object) =>
    create(`${core}/pods`, {
      metadata: { name },
      spec: { automountServiceAccountToken: false, containers: [{ name: 'main', image: 'app:1' }], ...spec },
    })
  const removePod = async (name: string) => expectStatus(await client.delete(`${core}/pods/${name}`, { gracePeriodSeconds: 0 }), 200)
  return { client, core, get, create, addPod, removePod }
}

test('nodes get pod ranges of the cluster ranges until none is left', async (t) => {
  const flags = ['--allocate-node-cidrs', '--cluster-cidr=10.244.0.0/23,fd00:1::/56', '--controllers=*,nodeipam']
  const { get, create } = await start(t, ...flags)
  for (const name of ['a', 'b']) {
    await create('/api/v1/nodes', { metadata: { name } })
    await until(
      () => get(`/api/v1/nodes/${name}`),
      ({ spec }) => spec.podCIDRs !== undefined,
    )
  }
  const { spec } = await get('/api/v1/nodes/b')
  assert.deepEqual([spec.podCIDR, spec.podCIDRs], ['10.244.1.0/24', ['10.244.1.0/24', 'fd00:1:0:1::/64']])
  await create('/api/v1/nodes', { metadata: { name: 'c' } })
  await until(
    () => get('/api/v1/namespaces/default/events'),
    ({ items }) => items.some(({ reason }) => reason === 'CIDRNotAvailable'),
  )
})

test('a CSI volume of a scheduled pod is attached to its node, and detached after the pod', async (t) => {
  const { client, core, get, create, addPod, removePod } = await start(t, '--controllers=*,attachdetach,persistentvolume-binder')
  await create('/api/v1/nodes', { metadata: { name: 'a' } })
  const common = { accessModes: ['ReadWriteOnce'], storageClassName: 'c' }
  const csi = { driver: 'disk.example.com', volumeHandle: 'h1' }
  await create('/api/v1/persistentvolumes', { metadata: { name: 'v' }, spec: { ...common, capacity: { storage: '1Gi' }, csi } })
  await create(`${core}/persistentvolumeclaims`, {
    metadata: { name: 'data' },
    spec: { ...common, resources: { requests: { storage: '1Gi' } } },
  })
  await until(
    () => get(`${core}/persistentvolumeclaims/data`),
    ({ status }) => status?.phase === 'Bound',
  )
  await addPod('user', { nodeName: 'a', volumes: [{ name: 'd', persistentVolumeClaim: { claimName: 'data' } }] })
  const attachments = '/apis/storage.k8s.io/v1/volumeattachments'
  const { items } = await until(
    () => get(attachments),
    (list) => list.items.length === 1,
  )
  const [attachment] = items as readonly [Stored]
  assert.match(attachment.metadata.name, /^csi-[0-9a-f]{64}$/)
  assert.deepEqual([attachment.spec.nodeName, attachment.spec.source], ['a', { persistentVolumeName: 'v' }])
  const path = `${attachments}/${attachment.metadata.name}/status`
  expectStatus(await client.patch(path, merge, { status: { attached: true } }), 200)
  const node = await until(
    () => get('/api/v1/nodes/a'),
    ({ status }) => status?.volumesAttached !== undefined,
  )
  assert.equal(node.status?.volumesAttached?.[0]?.name, 'kubernetes.io/csi/disk.example.com^h1')
  await removePod('user')
  await until(
    () => get(attachments),
    (list) => list.items.length === 0,
  )
  await until(
    () => get('/api/v1/nodes/a'),
    ({ status }) => status?.volumesAttached === undefined,
  )
})

test('a pod gets a claim of its template; the reservation of a deleted pod is removed', async (t) => {
  const flags = ['--feature-gates=DynamicResourceAllocation=true', '--runtime-config=resource.k8s.io/v1alpha1=true']
  const { client, core, get, create, addPod, removePod } = await start(t, ...flags, '--controllers=*,resource-claim')
  const group = `/apis/resource.k8s.io/v1alpha1/namespaces/${core.split('/').at(-1)}`
  const spec = { resourceClassName: 'gpu' }
  await create(`${group}/resourceclaimtemplates`, { metadata: { name: 'one-gpu' }, spec: { spec } })
  await create(`${group}/resourceclaims`, { metadata: { name: 'shared' }, spec })
  const pod = await addPod('work', {
    resourceClaims: [
      { name: 'gpu', source: { resourceClaimTemplateName: 'one-gpu' } },
      { name: 'other', source: { resourceClaimName: 'shared' } },
    ],
  })
  const made = await until(
    () => get(`${group}/resourceclaims/work-gpu`),
    ({ metadata }) => metadata.uid !== undefined,
  )
  assert.equal(made.metadata.ownerReferences?.[0]?.uid, pod.metadata.uid)
  const reservedFor = [{ resource: 'pods', name: 'work', uid: pod.metadata.uid }]
  const status = { driverName: 'gpu.example.com', allocation: { shareable: true }, reservedFor }
  expectStatus(await client.patch(`${group}/resourceclaims/shared/status`, merge, { status }), 200)
  assert.equal((await get(`${group}/resourceclaims/shared`)).status?.reservedFor?.length, 1)
  await removePod('work')
  await until(
    () => get(`${group}/resourceclaims/shared`),
    (claim) => claim.status?.reservedFor === undefined,
  )
})
