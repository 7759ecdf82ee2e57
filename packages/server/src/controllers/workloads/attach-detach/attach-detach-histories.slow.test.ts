// Random histories of pods with CSI volumes, of nodes and claims, with restarts: a volume is attached to a node while a pod of the node
// uses it, and the status of the node lists it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { VolumeAttachment } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import { type HistoryPlan, nameOf, pick, playHistory } from '../histories.fixture.js'
import { claimNamesOf, isFinishedPod } from '../kit/pod-state.js'
import { attachmentName } from './attachments.js'

const storage = 'storage.k8s.io'
const attachmentKind = { group: storage, plural: 'volumeattachments' }
const nodeNames = ['n0', 'n1', 'n2']
const volumeNames = ['v0', 'v1', 'v2', 'v3']
const now = { gracePeriodSeconds: 0 }

const plan: HistoryPlan = {
  controllers: ['attachdetach'],
  steps: 60,
  /** Longer than the delay after which unbound claims are read again. */
  settleMs: 6000,
  begin: async (cluster, random) => {
    const pods = (): readonly Pod[] => cluster.list<Pod>('', 'pods')
    const nodes = (): readonly Node[] => cluster.list<Node>('', 'nodes')
    const claims = (): readonly PersistentVolumeClaim[] => cluster.list<PersistentVolumeClaim>('', 'persistentvolumeclaims')
    const volumes = (): readonly PersistentVolume[] => cluster.list<PersistentVolume>('', 'persistentvolumes')
    const attachments = (): readonly VolumeAttachment[] => cluster.list<VolumeAttachment>(storage, 'volumeattachments')
    const common = { accessModes: ['ReadWriteMany'], storageClassName: 'c' }
    await cluster.create(storage, 'csidrivers', { metadata: { name: 'files.example.com' }, spec: { attachRequired: false } })
    for (const [i, name] of volumeNames.entries()) {
      // The last volume is of a driver that attaches nothing.
      const csi = { driver: i === volumeNames.length - 1 ? 'files.example.com' : 'disk.example.com', volumeHandle: name }
      await cluster.create('', 'persistentvolumes', { metadata: { name }, spec: { ...common, capacity: { storage: '1Gi' }, csi } })
      const spec = { ...common, volumeName: name, resources: { requests: { storage: '1Gi' } } }
      await cluster.create('', 'persistentvolumeclaims', { metadata: { name: `c-${name}` }, spec })
    }
    let names = 0
    const toggleNode = async (): Promise<string> => {
      const name = pick(random, nodeNames) ?? ''
      if (nodes().some((node) => nameOf(node) === name)) await cluster.remove({ group: '', plural: 'nodes', name })
      else await cluster.create('', 'nodes', { metadata: { name } })
      return `add or remove ${name}`
    }
    const addPod = async (): Promise<string> => {
      const name = `p${++names}`
      const used = volumeNames.filter(() => random(2) === 0)
      const spec = {
        nodeName: pick(random, nodeNames) ?? '',
        containers: [{ name: 'main', image: 'app' }],
        volumes: used.map((volume) => ({ name: volume, persistentVolumeClaim: { claimName: `c-${volume}` } })),
      }
      await cluster.create('', 'pods', { metadata: { name }, spec })
      return `add ${name} with ${used} on ${spec.nodeName}`
    }
    const onPod = async (verb: string, act: (name: string) => Promise<void>): Promise<string> => {
      const pod = pick(random, pods())
      if (pod !== undefined) await act(nameOf(pod))
      return `${verb} ${pod === undefined ? '' : nameOf(pod)}`
    }
    const removePod = () => onPod('remove', (name) => cluster.remove({ group: '', plural: 'pods', name }, now))
    const finishPod = () =>
      onPod('finish', (name) => cluster.patch({ group: '', plural: 'pods', name }, { status: { phase: 'Failed' } }, 'status'))
    const bind = async (): Promise<string> => {
      const claim = pick(random, claims())
      const target = { group: '', plural: 'persistentvolumeclaims', name: claim === undefined ? '' : nameOf(claim) }
      await cluster.patch(target, { status: { phase: 'Bound' } }, 'status')
      return `bind ${target.name}`
    }
    const boundVolumesOf = (pod: Pod): readonly PersistentVolume[] =>
      claimNamesOf(pod).flatMap((name) => {
        const claim = claims().find((each) => nameOf(each) === name && each.status?.phase === 'Bound')
        return volumes().find((each) => nameOf(each) === claim?.spec?.volumeName) ?? []
      })
    return {
      actions: [toggleNode, addPod, addPod, addPod, removePod, finishPod, bind, bind],
      tidy: async () => {
        // As podgc and an external attacher.
        for (const pod of pods())
          if (!nodes().some((node) => nameOf(node) === pod.spec?.nodeName))
            await cluster.remove({ group: '', plural: 'pods', name: nameOf(pod) }, now)
        await cluster.settle()
        for (const attachment of attachments())
          await cluster.patch({ ...attachmentKind, name: nameOf(attachment) }, { status: { attached: true } }, 'status')
      },
      check: () => {
        const expected = new Map<string, string>()
        for (const pod of pods().filter((each) => !isFinishedPod(each)))
          for (const volume of boundVolumesOf(pod)) {
            const node = pod.spec?.nodeName ?? ''
            if (volume.spec?.csi?.driver !== 'files.example.com') expected.set(attachmentName(volume, node), `${nameOf(volume)} on ${node}`)
          }
        const attached = attachments().map(({ spec }) => `${spec?.source?.persistentVolumeName} on ${spec?.nodeName}`)
        assert.deepEqual(attached.sort(), [...expected.values()].sort())
        const reported = nodes().flatMap((node) =>
          (node.status?.volumesAttached ?? []).map(({ name = '' }) => `${name.split('^')[1]} on ${nameOf(node)}`),
        )
        assert.deepEqual(reported.sort(), attached)
      },
    }
  },
}

for (const seed of [1, 2, 17, 21]) test(`random history ${seed}: volumes are attached where pods use them`, () => playHistory(seed, plan))
