// Finds the pod and container of logs, exec and port-forward, by name or by the pod selector of a workload or Service.

import { sleep } from '@cluster-apiserver/client/requests/requester.js'
import type { Pod } from '@cluster-apiserver/client/typed/types.js'
import { CommandError } from '../command-line/errors.js'
import { durationMs, type FlagTable, UsageError } from '../command-line/flags.js'
import type { Io } from '../command-line/io.js'
import type { Session } from '../command-line/session.js'
import { selectorQuery } from './label-selector.js'
import { resolveOne } from './object-arguments.js'
import type { Workload } from './workload.js'

export const podFlags = (timeout: string) =>
  ({
    'pod-running-timeout': { kind: 'text', initial: timeout, help: 'timeout until a workload has a pod' },
  }) as const satisfies FlagTable

interface PodSearch {
  readonly session: Session
  readonly flags: { readonly 'pod-running-timeout': string | undefined }
  readonly io: Io
  readonly signal: AbortSignal
}

export async function findPods(argument: string | undefined, { session, flags, io, signal }: PodSearch): Promise<readonly Pod[]> {
  const timeoutMs = durationMs('pod-running-timeout', flags['pod-running-timeout'] ?? '0')
  if (timeoutMs <= 0) throw new UsageError('--pod-running-timeout must be higher than zero')
  if (argument === undefined) throw new UsageError('POD or TYPE/NAME is required')
  const pods = session.client.pods(session.namespace)
  if (!argument.includes('/')) return [await pods.get(argument)]
  const { resource, name, collection } = await resolveOne([argument], { session })
  if (resource.kind === 'Pod') return [await pods.get(name)]
  const { spec } = (await collection.get(name)) as Workload
  const hasMapSelector = resource.kind === 'Service' || resource.kind === 'ReplicationController'
  const labelSelector = selectorQuery(
    hasMapSelector ? { matchLabels: (spec?.selector ?? {}) as { readonly [name: string]: string } } : spec?.selector,
  )
  if (labelSelector === '') throw new CommandError(`${argument} has no pod selector`)
  const deadline = Date.now() + timeoutMs
  for (let waitMs = 100; ; waitMs = Math.min(2 * waitMs, 2000)) {
    const { items } = await pods.list({ labelSelector, signal })
    if (items.length > 0) return items
    const remainingMs = deadline - Date.now()
    if (remainingMs <= 0) throw new CommandError(`timed out waiting for the condition: ${argument} has no pods`)
    io.progress(`waiting for pods of ${argument}`)
    await sleep(Math.min(waitMs, remainingMs), signal)
  }
}

export async function findPod(argument: string | undefined, search: PodSearch): Promise<Pod> {
  const found = await findPods(argument, search)
  const running = found.filter(({ status }) => status?.phase === 'Running')
  const isReady = ({ status }: Pod): boolean =>
    status?.conditions?.some((condition) => condition.type === 'Ready' && condition.status === 'True') === true
  return running.find(isReady) ?? running[0] ?? (found[0] as Pod)
}

export const containersOf = ({ spec }: Pod): readonly { readonly name?: string }[] => [
  ...(spec?.initContainers ?? []),
  ...(spec?.containers ?? []),
  ...(spec?.ephemeralContainers ?? []),
]

export function chooseContainer(pod: Pod, containerName: string | undefined, io: Pick<Io, 'err'>): string {
  const { spec, metadata } = pod
  const containers = containersOf(pod)
  if (containerName !== undefined) {
    if (!containers.some(({ name }) => name === containerName))
      throw new CommandError(
        `container ${containerName} not found in pod ${metadata?.name}; containers: ${containers.map(({ name }) => name).join(', ')}`,
      )
    return containerName
  }
  const defaultContainer = Object.entries(metadata?.annotations ?? {}).find(([name]) => name.endsWith('/default-container'))?.[1]
  const annotated = containers.find(({ name }) => name === defaultContainer)?.name
  if (annotated !== undefined) return annotated
  const first = spec?.containers?.[0]?.name ?? ''
  const others = [...(spec?.containers ?? []).map(({ name }) => name), ...(spec?.initContainers ?? []).map(({ name }) => `${name} (init)`)]
  if (others.length > 1) io.err(`Defaulted container "${first}" out of: ${others.join(', ')}\n`)
  return first
}
