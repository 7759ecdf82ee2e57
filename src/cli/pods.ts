// Which pod is meant: one that was named, or one of a workload.

import type { Pod } from '../client/typed/types.js'
import { Failure } from './failure.js'
import { UsageError } from './flags.js'
import type { Workload } from './rollout.js'
import type { Session } from './session.js'
import { oneNamed } from './targets.js'

/** `web`, `pod/web`, `deployment/shop`: all pods that are meant. */
export async function podsOf(word: string | undefined, session: Session): Promise<readonly Pod[]> {
  if (word === undefined) throw new UsageError('name a pod, or a workload as TYPE/NAME')
  const pods = session.client.pods(session.namespace)
  if (!word.includes('/')) return [await pods.get(word)]
  const { resource, name, collection } = await oneNamed([word], { session })
  if (resource.kind === 'Pod') return [await pods.get(name)]
  const { spec } = (await collection.get(name)) as Workload
  const labels = spec?.selector?.matchLabels ?? (spec?.selector as { readonly [name: string]: string } | undefined)
  if (labels === undefined || Object.keys(labels).length === 0) throw new Failure(`${word} selects no pods`)
  const { items } = await pods.list({ labelSelector: labels })
  if (items.length === 0) throw new Failure(`${word} has no pods now`)
  return items
}

export async function podOf(word: string | undefined, session: Session): Promise<Pod> {
  const found = await podsOf(word, session)
  return found.find(({ status }) => status?.phase === 'Running') ?? (found[0] as Pod)
}

/** The one that was named, the default of the pod, or its first. */
export function containerOf({ spec, metadata }: Pod, named: string | undefined): string {
  const containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? []), ...(spec?.ephemeralContainers ?? [])]
  if (named !== undefined) {
    if (!containers.some(({ name }) => name === named))
      throw new Failure(`container ${named} not found in pod ${metadata?.name}; there are ${containers.map(({ name }) => name).join(', ')}`)
    return named
  }
  const chosen = Object.entries(metadata?.annotations ?? {}).find(([name]) => name.endsWith('/default-container'))?.[1]
  return containers.find(({ name }) => name === chosen)?.name ?? spec?.containers?.[0]?.name ?? ''
}
