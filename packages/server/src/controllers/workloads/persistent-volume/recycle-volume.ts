// Recycles released volumes: a pod empties the directory of the volume, which then is available again.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import type { PersistentVolume, Pod } from '@cluster-apiserver/api/resources/core/v1.schema.js'
import { parseQuantity, quantityValue } from '@cluster-apiserver/api/schema/quantity.js'
import { everything } from '../../../objects/list/selection.js'
import { partsOf } from '../../../objects/object-keys.js'
import type { Source } from '../../framework/controller.js'
import { ignoreErrors, notFoundOrConflict } from '../../framework/internal-call.js'
import type { Outcome } from '../../framework/work-queue.js'
import { claimNamesOf, isFinishedPod } from '../kit/pod-state.js'
import { readObject } from '../kit/workload-parts.js'
import { annotationsOf } from '../simulated-nodes/node-template.js'
import { failVolume, unbind, type VolumeContext, type VolumeResources } from './bind-volume.js'

const podNamespace = 'default'
const namePrefix = 'recycler-for-'
/** A volume that cannot be recycled is tried again at the resync period of kube-controller-manager. */
const retryMs = 15_000

/** A recycler pod that changes queues the key of its volume. */
export const recyclerPods = ({ pods }: VolumeResources): Source => ({
  resource: pods,
  namespace: podNamespace,
  onlyChanges: true,
  keyOf: (stored) => {
    const { name } = partsOf(pods, stored.key)
    if (!name.startsWith(namePrefix)) return undefined
    return `volume/${name.slice(namePrefix.length)}`
  },
})

/** Only these plugins can recycle. */
const sourceOf = ({ spec }: PersistentVolume): { readonly source: object; readonly leastSeconds: number } | undefined => {
  if (spec?.hostPath !== undefined) return { source: { hostPath: { path: spec.hostPath.path } }, leastSeconds: 60 }
  return spec?.nfs === undefined ? undefined : { source: { nfs: spec.nfs }, leastSeconds: 300 }
}

export async function recycle(context: VolumeContext, volume: PersistentVolume): Promise<Outcome> {
  const { parts, writer, resources, recycling } = context
  const { name = '', uid = '' } = volume.metadata ?? {}
  const nowMs = parts.engine.clock.now()
  const state = recycling.get(name)?.state ?? nowMs
  if (state !== 'started' && state > nowMs) return { afterMs: state - nowMs }
  const retry = (): Outcome => {
    recycling.set(name, { uid, state: nowMs + retryMs })
    return { afterMs: retryMs }
  }
  const fail = async (message: string): Promise<Outcome> => {
    await failVolume(context, volume, 'VolumeFailedRecycle', message)
    return retry()
  }
  if (sourceOf(volume) === undefined) {
    await failVolume(context, volume, 'VolumeFailedRecycle', 'No recycler plugin found for the volume!')
    return undefined
  }
  const pod = recyclerPodOf(context, name)
  if (state !== 'started') {
    const users = await podsUsing(context, volume)
    if (users.length > 0) {
      const message = `Volume is used by pods: ${users.join(',')}`
      await writer.event(resources.volumes, volume, { type: 'Normal', reason: 'VolumeFailedRecycle', message })
      return retry()
    }
    if (pod !== undefined) {
      await deletePod(context, pod)
      return fail('Recycle failed: old recycler pod found, will retry later')
    }
    try {
      await writer.create(resources.pods, recyclerPod(context, volume))
    } catch (thrown) {
      return fail(`Recycle failed: unexpected error creating recycler pod:  ${errorMessage(thrown)}`)
    }
    recycling.set(name, { uid, state: 'started' })
    return undefined
  }
  if (pod !== undefined && !isFinishedPod(pod)) return undefined
  recycling.delete(name)
  if (pod !== undefined) await deletePod(context, pod)
  if (pod?.status?.phase !== 'Succeeded') {
    const problem = pod === undefined ? 'recycler pod was deleted' : pod.status?.message || 'pod failed, pod.Status.Message unknown'
    return fail(`Recycle failed: failed to recycle volume: ${problem}`)
  }
  await writer.event(resources.volumes, volume, { type: 'Normal', reason: 'VolumeRecycled', message: 'Volume recycled' })
  await unbind(context, volume)
  return undefined
}

/** Deletes the recycler pod of a volume that was deleted meanwhile, also if there is another volume of that name. */
export async function endRecycling(context: VolumeContext, name: string, uid: string | undefined): Promise<void> {
  const known = context.recycling.get(name)
  if (known === undefined || known.uid === uid) return
  const pod = known.state === 'started' ? recyclerPodOf(context, name) : undefined
  if (pod !== undefined) await deletePod(context, pod)
  context.recycling.delete(name)
}

const recyclerPodOf = ({ parts, resources }: VolumeContext, name: string): Pod | undefined =>
  readObject<Pod>(parts, { resource: resources.pods, namespace: podNamespace, name: `${namePrefix}${name}` })

const deletePod = ({ writer, resources }: VolumeContext, pod: Pod) => ignoreErrors(notFoundOrConflict, writer.delete(resources.pods, pod))

/** Pods that still use the deleted claim of the volume; a new claim of the same name has another volume. */
async function podsUsing({ parts, resources, run }: VolumeContext, { spec }: PersistentVolume): Promise<readonly string[]> {
  const { namespace = '', name = '' } = spec?.claimRef ?? {}
  if (readObject(parts, { resource: resources.claims, namespace, name }) !== undefined) return []
  const users: string[] = []
  for (const stored of parts.engine.store.readInSteps({ resource: resources.pods, namespace, selection: everything })) {
    await run.budget.yieldIfSpent()
    const pod = stored?.decode(resources.pods) as Pod | undefined
    if (pod !== undefined && !isFinishedPod(pod) && claimNamesOf(pod).includes(name)) users.push(`${namespace}/${pod.metadata?.name}`)
  }
  return users
}

const secondsPerGibibyte = 30

function recyclerPod({ parts }: VolumeContext, volume: PersistentVolume): Pod {
  const { source = {}, leastSeconds = 0 } = sourceOf(volume) ?? {}
  const gibibytes = Number(quantityValue(parseQuantity(String(volume.spec?.capacity?.['storage'] ?? '0')))) / 2 ** 30
  const command = ['/bin/sh', '-c', 'test -d /scrub && find /scrub -mindepth 1 -delete']
  return {
    metadata: {
      name: `${namePrefix}${volume.metadata?.name}`,
      namespace: podNamespace,
      // On a simulated node.
      annotations: { [annotationsOf(parts.engine.identity).behaviour]: '{"exitAfter": "1s"}' },
    },
    spec: {
      restartPolicy: 'Never',
      activeDeadlineSeconds: Math.max(leastSeconds, Math.trunc(gibibytes) * secondsPerGibibyte),
      volumes: [{ name: 'vol', ...source }],
      containers: [{ name: 'pv-recycler', image: 'busybox:stable', command, volumeMounts: [{ name: 'vol', mountPath: '/scrub' }] }],
    },
  } as unknown as Pod
}
