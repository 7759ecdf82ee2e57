// Which pod is meant: one that was named, or one of a workload.

import type { Pod } from '../client/typed/types.js'
import { Failure } from './failure.js'
import { UsageError } from './flags.js'
import type { Io } from './io.js'
import type { Workload } from './rollout.js'
import { selectorQuery } from './selector-query.js'
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
  // Those of old have labels alone.
  const isOld = resource.kind === 'Service' || resource.kind === 'ReplicationController'
  const labelSelector = selectorQuery(
    isOld ? { matchLabels: (spec?.selector ?? {}) as { readonly [name: string]: string } } : spec?.selector,
  )
  if (labelSelector === '') throw new Failure(`${word} selects no pods`)
  const { items } = await pods.list({ labelSelector })
  if (items.length === 0) throw new Failure(`${word} has no pods now`)
  return items
}

export async function podOf(word: string | undefined, session: Session): Promise<Pod> {
  const found = await podsOf(word, session)
  const running = found.filter(({ status }) => status?.phase === 'Running')
  const isReady = ({ status }: Pod): boolean => status?.conditions?.some((one) => one.type === 'Ready' && one.status === 'True') === true
  return running.find(isReady) ?? running[0] ?? (found[0] as Pod)
}

/** Of every sort, in the order in which they run. */
export const containersOf = ({ spec }: Pod): readonly { readonly name?: string }[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...(spec?.ephemeralContainers ?? []),
]

/** The one that was named, the default of the pod, or its first; where there are others, it is told which. */
export function containerOf(pod: Pod, named: string | undefined, io: Pick<Io, 'err'>): string {
  const { spec, metadata } = pod
  const containers = containersOf(pod)
  if (named !== undefined) {
    if (!containers.some(({ name }) => name === named))
      throw new Failure(`container ${named} not found in pod ${metadata?.name}; there are ${containers.map(({ name }) => name).join(', ')}`)
    return named
  }
  const chosen = Object.entries(metadata?.annotations ?? {}).find(([name]) => name.endsWith('/default-container'))?.[1]
  const annotated = containers.find(({ name }) => name === chosen)?.name
  if (annotated !== undefined) return annotated
  const first = spec?.containers?.[0]?.name ?? ''
  const others = [...(spec?.containers ?? []).map(({ name }) => name), ...(spec?.initContainers ?? []).map(({ name }) => `${name} (init)`)]
  if (others.length > 1) io.err(`Defaulted container "${first}" out of: ${others.join(', ')}\n`)
  return first
}
