// Pods that `drain` deletes, skips with a warning, or refuses to delete.

import { errorMessage } from '@cluster-apiserver/api/base/error-message.js'
import { isNotFound } from '@cluster-apiserver/client/errors.js'
import type { Pod } from '@cluster-apiserver/client/typed/types.js'
import type { Session } from '../../command-line/session.js'

export interface DrainFilterFlags {
  readonly force: boolean
  readonly 'ignore-daemonsets': boolean
  readonly 'delete-emptydir-data': boolean
  readonly 'pod-selector': string | undefined
  readonly 'chunk-size': number | undefined
  readonly 'skip-wait-for-delete-timeout': number | undefined
}

interface PodsOfNode {
  readonly toDelete: readonly Pod[]
  /** Texts such as `ignoring DaemonSet-managed Pods: shop/log-1`. */
  readonly warnings: readonly string[]
  readonly errors: readonly string[]
}

interface Verdict {
  readonly isDeleted: boolean
  readonly warning?: string
  readonly error?: string
}

const accepted: Verdict = { isDeleted: true }
const skipped: Verdict = { isDeleted: false }

export async function podsOfNode(node: string, flags: DrainFilterFlags, session: Session): Promise<PodsOfNode> {
  const limit = flags['chunk-size'] ?? 0
  const pods = session.client.collection<Pod>(await session.resources.find('pods'), undefined)
  const mirrorAnnotation = (await session.resources.identity()).label('config.mirror')
  const select = { fieldSelector: `spec.nodeName=${node}`, ...(flags['pod-selector'] ? { labelSelector: flags['pod-selector'] } : {}) }
  const toDelete: Pod[] = []
  const warnings = new Map<string, string[]>()
  const errors = new Map<string, string[]>()
  for await (const pod of pods.items({ ...select, ...(limit > 0 ? { limit } : {}) })) {
    const verdict = await verdictOn(pod)
    if (verdict.isDeleted) toDelete.push(pod)
    for (const [texts, text] of [
      [warnings, verdict.warning],
      [errors, verdict.error],
    ] as const)
      if (text !== undefined) texts.set(text, [...(texts.get(text) ?? []), `${pod.metadata?.namespace}/${pod.metadata?.name}`])
  }
  const lines = (texts: ReadonlyMap<string, readonly string[]>): readonly string[] =>
    [...texts].map(([text, names]) => `${text}: ${names.join(', ')}`)
  return { toDelete, warnings: lines(warnings), errors: lines(errors).map((line) => `cannot delete ${line}`) }

  /** A later filter replaces the warning of an earlier one, as in kubectl. */
  async function verdictOn(pod: Pod): Promise<Verdict> {
    if (isTerminatingLongerThan(pod, flags['skip-wait-for-delete-timeout'] ?? 0)) return skipped
    const isFinished = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    const controller = pod.metadata?.ownerReferences?.find((owner) => owner.controller === true)
    let verdict = accepted
    if (controller?.kind === 'DaemonSet' && !isFinished) verdict = await verdictOnDaemonSet(pod, controller.name ?? '')
    if (!verdict.isDeleted) return verdict
    if (pod.metadata?.annotations?.[mirrorAnnotation] !== undefined) return skipped
    if (isFinished) return accepted
    if (pod.spec?.volumes?.some(({ emptyDir }) => emptyDir !== undefined) === true && !flags['delete-emptydir-data'])
      return { isDeleted: false, error: 'Pods with local storage (use --delete-emptydir-data to override)' }
    if (controller !== undefined) return accepted
    if (flags.force) return { isDeleted: true, warning: 'deleting Pods that declare no controller' }
    return { isDeleted: false, error: 'Pods declare no controller (use --force to override)' }
  }

  async function verdictOnDaemonSet({ metadata }: Pod, name: string): Promise<Verdict> {
    try {
      await session.client.collection(await session.resources.ofKind('apps/v1', 'DaemonSet'), metadata?.namespace).get(name)
    } catch (thrown) {
      const error = errorMessage(thrown)
      // --force deletes pods of a missing DaemonSet.
      return isNotFound(thrown) && flags.force ? accepted : { isDeleted: false, error }
    }
    if (flags['ignore-daemonsets']) return { isDeleted: false, warning: 'ignoring DaemonSet-managed Pods' }
    return { isDeleted: false, error: 'DaemonSet-managed Pods (use --ignore-daemonsets to ignore)' }
  }
}

export function isTerminatingLongerThan({ metadata }: Pod, seconds: number): boolean {
  const deletedAt = metadata?.deletionTimestamp
  return seconds > 0 && deletedAt !== undefined && Math.trunc((Date.now() - Date.parse(deletedAt)) / 1000) > seconds
}
