// Which pod is meant: one that was named, or one of a workload.

import { sleep } from '../client/requester.js'
import type { Pod } from '../client/typed/types.js'
import { Failure } from './failure.js'
import { durationMs, type FlagTable, UsageError } from './flags.js'
import type { Io } from './io.js'
import type { Workload } from './rollout.js'
import { selectorQuery } from './selector-query.js'
import type { Session } from './session.js'
import { oneNamed } from './targets.js'

/** How long a workload without pods is waited for. */
export const podFlags = (patience: string) =>
  ({
    'pod-running-timeout': { kind: 'text', initial: patience, help: 'how long to wait for a pod of a workload' },
  }) as const satisfies FlagTable

export interface PodSearch {
  readonly session: Session
  readonly flags: { readonly 'pod-running-timeout': string | undefined }
  readonly io: Io
  readonly signal: AbortSignal
}

/** `web`, `pod/web`, `deployment/shop`: all pods that are meant. */
export async function podsOf(word: string | undefined, { session, flags, io, signal }: PodSearch): Promise<readonly Pod[]> {
  const patienceMs = durationMs('pod-running-timeout', flags['pod-running-timeout'] ?? '0')
  if (patienceMs <= 0) throw new UsageError('--pod-running-timeout must be higher than zero')
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
  const deadline = Date.now() + patienceMs
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 2000)) {
    const { items } = await pods.list({ labelSelector, signal })
    if (items.length > 0) return items
    const leftMs = deadline - Date.now()
    if (leftMs <= 0) throw new Failure(`timed out waiting for the condition: ${word} has no pods`)
    io.progress(`waiting for pods of ${word}`)
    await sleep(Math.min(waitMs, leftMs), signal)
  }
}

export async function podOf(word: string | undefined, search: PodSearch): Promise<Pod> {
  const found = await podsOf(word, search)
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
