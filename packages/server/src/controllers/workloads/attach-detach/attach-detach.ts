// Attach/detach controller: VolumeAttachments of CSI volumes of scheduled pods, and `volumesAttached` of their nodes.

import type { Catalog } from '@cluster-apiserver/api/api/catalog/catalog.js'
import type { Resource } from '@cluster-apiserver/api/api/catalog/resource.js'
import { sameValue } from '@cluster-apiserver/api/api/validation/same-value.js'
import type { Node, PersistentVolume, PersistentVolumeClaim, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import type { CSIDriver, VolumeAttachment } from '@cluster-apiserver/api/resources/storage/v1.schema.js'
import { partsOf } from '../../../objects/object-keys.js'
import { KeyedController, type Run } from '../../framework/controller.js'
import { ignoreErrors, notFoundOrConflict } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import type { Controller } from '../../leader-election/leader-election.js'
import { claimNamesOf, isFinishedPod } from '../kit/pod-state.js'
import { addressOfKey, isTerminating, readAll, readObject, type WorkloadParts, workloadBackOff } from '../kit/workload-parts.js'
import { Writer } from '../kit/writer.js'
import { nodeNameOf, podsOnNode } from '../node-lifecycle/pods-on-node.js'
import { attachedVolume, attachedVolumePrefix, attachmentName, newAttachment } from './attachments.js'

const volumeTexts = ['"persistentVolumeClaim"', '"ephemeral"'].map((text) => Buffer.from(text))
/** Delay until a pod whose claims are not bound is checked again. */
const unboundMs = 5000

/** Keys: `pod/<namespace>/<name>` attaches, `node/<name>` detaches, reports and queues pods without their attachments. */
export const attachDetach = (parts: WorkloadParts): Controller => {
  const writer = new Writer(parts, 'attachdetach-controller')
  return new KeyedController(parts, {
    name: 'attachdetach',
    concurrency: 5,
    backOff: workloadBackOff,
    sources: (catalog) => {
      const resources = resourcesIn(catalog, parts)
      if (resources === undefined) return []
      const { pods, nodes, attachments } = resources
      return [
        {
          // Pods may name a node before it exists.
          resource: nodes,
          namespace: '',
          onlyChanges: true,
          keyOf: ({ key }, type) => (type === 'ADDED' ? `node/${partsOf(nodes, key).name}` : undefined),
        },
        {
          resource: pods,
          namespace: '',
          matches: ({ entry }) => volumeTexts.some((text) => entry.value.includes(text)),
          keyOf: (stored, type) => {
            const nodeName = nodeNameOf(pods, stored)
            if (nodeName === '') return undefined
            const { namespace, name } = partsOf(pods, stored.key)
            const phase = stored.fields(pods)?.['status.phase']
            return type === 'DELETED' || phase === 'Succeeded' || phase === 'Failed' ? `node/${nodeName}` : `pod/${namespace}/${name}`
          },
        },
        {
          resource: attachments,
          namespace: '',
          keyOf: (stored) => `node/${(stored.decode(attachments) as VolumeAttachment).spec?.nodeName}`,
        },
      ]
    },
    work: async (key, run) => {
      const resources = resourcesIn(parts.catalogs.current, parts)
      if (resources === undefined) return undefined
      const slash = key.indexOf('/')
      const context = { parts, writer, resources, run }
      const name = key.slice(slash + 1)
      if (key.slice(0, slash) === 'pod') return attach(context, name)
      return reconcileNode(context, name)
    },
  })
}

interface Resources {
  readonly pods: Resource
  readonly nodes: Resource
  readonly claims: Resource
  readonly volumes: Resource
  readonly attachments: Resource
  readonly drivers: Resource
}

interface Context {
  readonly parts: WorkloadParts
  readonly writer: Writer
  readonly resources: Resources
  readonly run: Run
}

function resourcesIn(catalog: Catalog, { engine: { identity } }: WorkloadParts): Resources | undefined {
  const core = (plural: string): Resource | undefined => catalog.find('', 'v1', plural)
  const storage = (plural: string): Resource | undefined => catalog.find(identity.group({ stem: 'storage' }), 'v1', plural)
  const [pods, nodes, claims, volumes] = [core('pods'), core('nodes'), core('persistentvolumeclaims'), core('persistentvolumes')]
  const [attachments, drivers] = [storage('volumeattachments'), storage('csidrivers')]
  if (pods === undefined || nodes === undefined || claims === undefined || volumes === undefined) return undefined
  return attachments === undefined || drivers === undefined ? undefined : { pods, nodes, claims, volumes, attachments, drivers }
}

/** Bound CSI volumes of a pod; undefined in place of a claim that is not bound. */
function csiVolumes({ parts, resources }: Context, pod: Pod): readonly (PersistentVolume | undefined)[] {
  const { namespace = '' } = pod.metadata ?? {}
  return claimNamesOf(pod).flatMap((name) => {
    const claim = readObject<PersistentVolumeClaim>(parts, { resource: resources.claims, namespace, name })
    if (claim?.status?.phase !== 'Bound') return [undefined]
    const volume = readObject<PersistentVolume>(parts, { resource: resources.volumes, namespace: '', name: claim.spec?.volumeName ?? '' })
    return volume?.spec?.csi === undefined ? [] : [volume]
  })
}

async function attach(context: Context, key: string): Promise<Outcome> {
  const { parts, writer, resources } = context
  const pod = readObject<Pod>(parts, addressOfKey(resources.pods, key))
  const nodeName = pod?.spec?.nodeName ?? ''
  if (pod === undefined || nodeName === '' || isFinishedPod(pod) || isTerminating(pod)) return undefined
  if (readObject(parts, { resource: resources.nodes, namespace: '', name: nodeName }) === undefined) return undefined
  const volumes = csiVolumes(context, pod)
  for (const volume of volumes) {
    if (volume === undefined || !needsAttach(context, volume)) continue
    const name = attachmentName(volume, nodeName)
    if (readObject(parts, { resource: resources.attachments, namespace: '', name }) !== undefined) continue
    await ignoreErrors([409], writer.create(resources.attachments, newAttachment(volume, nodeName)))
  }
  return volumes.includes(undefined) ? { afterMs: unboundMs } : undefined
}

/** A driver may say that its volumes are not attached. */
const needsAttach = ({ parts, resources }: Context, { spec }: PersistentVolume): boolean =>
  readObject<CSIDriver>(parts, { resource: resources.drivers, namespace: '', name: spec?.csi?.driver ?? '' })?.spec?.attachRequired !==
  false

/** Deletes attachments that no pod of the node uses, and writes `volumesAttached`. Returns the keys of pods whose attachments are missing. */
async function reconcileNode(context: Context, nodeName: string): Promise<Outcome> {
  const { parts, writer, resources, run } = context
  const node = readObject<Node>(parts, { resource: resources.nodes, namespace: '', name: nodeName })
  const isOurs = ({ metadata, spec }: VolumeAttachment): boolean =>
    spec?.nodeName === nodeName && spec.source?.persistentVolumeName !== undefined && metadata?.name?.startsWith('csi-') === true
  const attachments = [...readAll<VolumeAttachment>(parts, resources.attachments, '')].filter(isOurs)
  const { identity } = parts.engine
  const before = node?.status?.volumesAttached ?? []
  const pods = (await podsOnNode(parts, resources.pods, { node: nodeName, run })).filter((pod) => !isFinishedPod(pod))
  const podsOf = new Map<string, Pod[]>()
  const keys = new Set<string>()
  for (const pod of pods)
    for (const volume of csiVolumes(context, pod)) {
      const name = volume === undefined ? '' : attachmentName(volume, nodeName)
      if (volume !== undefined) podsOf.set(name, [...(podsOf.get(name) ?? []), pod])
      const isMissing =
        volume === undefined || (needsAttach(context, volume) && !attachments.some(({ metadata }) => metadata?.name === name))
      if (isMissing) keys.add(`pod/${pod.metadata?.namespace}/${pod.metadata?.name}`)
    }
  const attached: VolumeAttachment[] = []
  for (const attachment of attachments) {
    if (!podsOf.has(attachment.metadata?.name ?? '')) {
      if (!isTerminating(attachment)) await ignoreErrors(notFoundOrConflict, writer.delete(resources.attachments, attachment))
    } else if (attachment.status?.attached === true) attached.push(attachment)
  }
  if (node === undefined) return undefined
  const reported = before.filter(({ name }) => name?.startsWith(attachedVolumePrefix(identity)) !== true)
  const fresh: { readonly volumeName: string; readonly pods: readonly Pod[] }[] = []
  for (const { metadata, spec } of attached) {
    const volumeName = spec?.source?.persistentVolumeName ?? ''
    const volume = readObject<PersistentVolume>(parts, { resource: resources.volumes, namespace: '', name: volumeName })
    if (volume === undefined) continue
    const entry = attachedVolume(identity, volume)
    reported.push(entry)
    if (!before.some(({ name }) => name === entry.name)) fresh.push({ volumeName, pods: podsOf.get(metadata?.name ?? '') ?? [] })
  }
  if (!sameValue(before, reported))
    await writer.update(resources.nodes, { ...node, status: { ...node.status, volumesAttached: reported } } as Node, 'status')
  for (const { volumeName, pods: users } of fresh)
    for (const pod of users)
      await writer.event(resources.pods, pod, {
        type: 'Normal',
        reason: 'SuccessfulAttachVolume',
        message: `AttachVolume.Attach succeeded for volume "${volumeName}" `,
      })
  return { keys: [...keys] }
}
